// The step along an axis, of those that are constants.
uint step_of(uint axis) {
  uint steps[8] = uint[8](step0, step1, step2, step3, step4, step5, step6, step7);
  return steps[axis];
}
