'use strict';
(() => {
  const base = document.body.dataset.base;
  const byId = (id) => document.getElementById(id);
  const select = byId('model');
  const inputs = byId('inputs');
  const result = byId('result');
  const state = byId('state');
  const silence = 'The server does not answer.';
  let fields = [];
  let isUnknown = false;  // the signature of the chosen model, as it is not loaded

  // Texts of models are only ever set as text.
  const make = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const at = (model, rest = '') => `${base}/v2/models/${encodeURIComponent(model)}${rest}`;
  const isFloat = (type) => type === 'FP32' || type === 'FP64';
  const count = (shape) => shape.reduce((product, extent) => product * extent, 1);
  const oneRow = (shape) => shape.map((extent) => (extent < 0 ? 1 : extent));

  const listModels = () => {
    const chosen = select.value;
    const rows = [...document.querySelectorAll('tr[data-model]')];
    const names = [...new Set(rows.map((row) => row.dataset.model))];
    if (names.join('\n') === [...select.options].map((one) => one.value).join('\n')) return;
    select.replaceChildren(...names.map((name) => make('option', name, { value: name })));
    if (names.includes(chosen)) select.value = chosen;
    byId('try').hidden = names.length === 0;
    showInputs();
  };

  // Where an image may go: the place of its rows, columns and colours.
  const imageLayout = (input) => {
    const shape = input.shape;
    if (shape.length !== 4 || !(isFloat(input.datatype) || input.datatype === 'UINT8')) return null;
    const last = shape[3] === 1 || shape[3] === 3;
    if (!last && shape[1] !== 1 && shape[1] !== 3) return null;
    const [rows, columns, colours] = last ? [shape[1], shape[2], shape[3]] : [shape[2], shape[3], shape[1]];
    return { last, rows: rows < 0 ? 224 : rows, columns: columns < 0 ? 224 : columns, colours };
  };

  const exampleOf = (input) => {
    const size = count(oneRow(input.shape));
    const value = { BOOL: 'true', BYTES: '""' }[input.datatype] || '0';
    if (size > 64) return '';
    return `[${Array(size).fill(value).join(', ')}]`;
  };

  const showInputs = async () => {
    const model = select.value;
    if (!model) return;
    const answer = await fetch(at(model)).then((got) => got.json()).catch(() => null);
    if (model !== select.value) return;
    fields = [];
    result.replaceChildren();
    isUnknown = !answer || !answer.inputs;
    if (isUnknown) {
      inputs.replaceChildren(make('p', (answer && answer.error) || silence));
      return;
    }
    inputs.replaceChildren(...answer.inputs.map((input) => {
      const set = make('fieldset');
      set.append(make('legend', `${input.name}: ${input.datatype} [${input.shape.join(', ')}]`));
      const shape = make('input', undefined, { value: oneRow(input.shape).join(', '), size: 16 });
      const data = make('textarea', exampleOf(input), { spellcheck: 'false' });
      const shapeLabel = make('label', 'Shape ');
      shapeLabel.append(shape);
      const dataLabel = make('label', 'Elements, as a JSON list ');
      dataLabel.append(data);
      set.append(shapeLabel, dataLabel);
      const field = { input, shape, data, file: null, scale: null, layout: imageLayout(input) };
      if (field.layout) {
        const row = make('div');
        field.file = make('input', undefined, { type: 'file', accept: 'image/*' });
        field.scale = make('select');
        for (const [value, text] of [['one', '0 to 1'], ['bytes', '0 to 255'], ['sign', '−1 to 1'],
                                     ['imagenet', 'mean and deviation of ImageNet']])
          field.scale.append(make('option', text, { value }));
        if (input.datatype === 'UINT8') field.scale.value = 'bytes';
        const fileLabel = make('label', 'Or an image ');
        fileLabel.append(field.file);
        const scaleLabel = make('label', 'with numbers from ');
        scaleLabel.append(field.scale);
        row.append(fileLabel, scaleLabel);
        set.append(row);
      }
      fields.push(field);
      return set;
    }));
    fields.outputs = answer.outputs;
  };

  const scaled = (value, colour, how) => {
    if (how === 'bytes') return value;
    if (how === 'sign') return value / 127.5 - 1;
    const part = value / 255;
    if (how === 'one') return part;
    return (part - [0.485, 0.456, 0.406][colour]) / [0.229, 0.224, 0.225][colour];
  };

  const elementsOfImage = async (field) => {
    const { last, rows, columns, colours } = field.layout;
    const image = await createImageBitmap(field.file.files[0]);
    const canvas = make('canvas', undefined, { width: columns, height: rows });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, columns, rows);
    const pixels = context.getImageData(0, 0, columns, rows).data;
    const data = new Array(rows * columns * colours);
    for (let place = 0; place < rows * columns; ++place)
      for (let colour = 0; colour < colours; ++colour) {
        const from = 4 * place;
        const value = colours === 1
          ? 0.299 * pixels[from] + 0.587 * pixels[from + 1] + 0.114 * pixels[from + 2]
          : pixels[from + colour];
        const number = scaled(value, colour, field.scale.value);
        data[last ? place * colours + colour : colour * rows * columns + place] =
          field.input.datatype === 'UINT8' ? Math.round(number) : number;
      }
    return { data, shape: last ? [1, rows, columns, colours] : [1, colours, rows, columns] };
  };

  const extentsOf = (text) =>
    text.trim() === '' ? [] : text.split(',').map((one) => (one.trim() === '' ? NaN : Number(one)));

  // With the data as they were written: JavaScript would round 64-bit integers.
  const withData = (head, data) => `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;

  // The text of a request.
  const requestOf = async () => {
    const texts = [];
    let hasImage = false;
    for (const field of fields) {
      const { name, datatype } = field.input;
      if (field.file && field.file.files.length > 0) {
        hasImage = true;
        const { data, shape } = await elementsOfImage(field);
        texts.push(withData({ name, datatype, shape }, JSON.stringify(data)));
        continue;
      }
      try {
        JSON.parse(field.data.value);
      } catch (error) {
        throw new Error(`${name}: ${error.message}`);
      }
      texts.push(withData({ name, datatype, shape: extentsOf(field.shape.value) }, field.data.value));
    }
    // The classes of an image are told by their names, if the server knows them.
    const outputs = hasImage && fields.outputs.map(({ name, datatype, shape }) =>
      isFloat(datatype) && shape.length === 2 ? { name, parameters: { classification: 5 } } : { name });
    return `{"inputs":[${texts.join(',')}]${outputs ? `,"outputs":${JSON.stringify(outputs)}` : ''}}`;
  };

  const showClasses = (output) => {
    const table = make('table');
    const body = make('tbody');
    const parts = output.data.map((text) => {
      const [value, index, ...label] = text.split(':');
      return { value: Number(value), index, label: label.join(':') };
    });
    const most = Math.max(...parts.map((one) => one.value));
    const least = Math.min(0, ...parts.map((one) => one.value));
    for (const one of parts) {
      const row = make('tr');
      row.append(make('th', one.label || `class ${one.index}`, { scope: 'row' }));
      row.append(make('td', one.value.toPrecision(4), { class: 'number' }));
      const cell = make('td');
      cell.append(make('meter', undefined, { min: least, max: most > least ? most : least + 1, value: one.value }));
      row.append(cell);
      body.append(row);
    }
    table.append(body);
    return table;
  };

  const show = (answer) => {
    result.replaceChildren();
    for (const output of answer.outputs) {
      result.append(make('h3', `${output.name}: ${output.datatype} [${output.shape.join(', ')}]`));
      const isClasses = output.datatype === 'BYTES' &&
        output.data.every((text) => /^[-+0-9.e]+:\d+(:|$)/i.test(text));
      if (isClasses && output.data.length > 0) {
        result.append(showClasses(output));
        continue;
      }
      const shown = output.data.slice(0, 1000);
      const more = output.data.length - shown.length;
      result.append(make('pre', JSON.stringify(shown) + (more > 0 ? ` and ${more} more` : '')));
    }
  };

  byId('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = event.target.querySelector('button');
    button.disabled = true;
    state.textContent = 'running';
    const began = performance.now();
    try {
      const answer = await fetch(at(select.value, '/infer'), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: await requestOf(),
      });
      const body = await answer.json();
      if (!answer.ok) throw new Error(body.error || `status ${answer.status}`);
      show(body);
      state.textContent = `${(performance.now() - began).toFixed(1)} ms`;
    } catch (error) {
      result.replaceChildren();
      state.textContent = error.message;
    }
    button.disabled = false;
  });
  select.addEventListener('change', showInputs);

  const refresh = async () => {
    if (document.hidden) return;
    try {
      const text = await fetch(`${base}/`, { cache: 'no-store' }).then((got) => got.text());
      // Only this part: the policy of this page lets no style of another one apply.
      const part = text.slice(text.indexOf('<div id="live">'), text.indexOf('<section id="try"'));
      const next = new DOMParser().parseFromString(part, 'text/html').getElementById('live');
      if (next) byId('live').replaceChildren(...next.children);
      if (state.textContent === silence) state.textContent = '';
      listModels();
      if (isUnknown) showInputs();
    } catch (error) {
      state.textContent = silence;
    }
  };
  listModels();
  setInterval(refresh, 2000);
})();
