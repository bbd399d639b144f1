# Examples: each examples/NAME.cpp, and each folder examples/NAME/ with sources, is one program.

function(stoker_example name)
  add_executable(example_${name} ${ARGN})
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME example_${name})
  target_link_libraries(example_${name} PRIVATE stoker_settings stoker_stoker)
  stoker_optimise_little(example_${name})
endfunction()

stoker_glob(single_examples examples/*.cpp)
foreach(source ${single_examples})
  cmake_path(GET source STEM name)
  stoker_example(${name} ${source})
endforeach()
file(GLOB example_folders CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/examples"
     "${CMAKE_CURRENT_SOURCE_DIR}/examples/*")
foreach(folder ${example_folders})
  stoker_glob(sources examples/${folder}/*.cpp)
  if(sources)
    stoker_example(${folder} ${sources})
  endif()
endforeach()

# tests/guides/model_examples_test.cpp runs these with models that it makes.
if(TARGET tests_guides)
  add_dependencies(tests_guides example_onnx_faces example_onnx_speech)
endif()

# Every example runs as a test, so that what the guides point at stays true.
if(STOKER_BUILD_TESTS AND NOT STOKER_SANITIZE)
  # stoker_example_test(NAME REGEX COMMAND…): passes if the output matches.
  function(stoker_example_test name regex)
    add_test(NAME example.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    set_tests_properties(example.${name} PROPERTIES LABELS examples TIMEOUT 120
                         PASS_REGULAR_EXPRESSION "${regex}")
  endfunction()

  stoker_example_test(quickstart "11\n22\n33" example_quickstart)
  stoker_example_test(custom_kernel_on_cpu "cpu: 1 3 9 19.*slope: 4 8 12 16.*wrong:2" example_custom_kernel cpu)
  stoker_example_test(custom_kernel_on_vulkan "vulkan:0: 1 3 9 19.*slope: 4 8 12 16.*wrong:2"
                      example_custom_kernel vulkan)
  stoker_example_test(http_server "GET /health: alive.*10000 commands" example_http_server --demo)
  stoker_example_test(image_server
                      "edges: 200, a picture of u8.427,640,1.*no picture: 415.*completed_total.device=.* [1-9]"
                      example_image_server --demo)
  stoker_example_test(model_server "hello: 200 hello.*model: 200 .*\"y\".*infer: 200 .*[[]3,5[]]"
                      example_model_server examples/scripts/line_model.lua --demo)
  stoker_example_test(supervised_workers "8 restarts, 4 workers.*64 chunks answered, sum 204800320000"
                      example_supervised_workers)
  stoker_example_test(test_an_actor "all orders that were tried are right" example_test_an_actor)
  foreach(kind mlp cnn)
    stoker_example_test(digits_${kind} "test accuracy: 0.9(7[5-9]|[89])" example_digits
                        examples/data/digits.csv.gz ${kind}
                        ${CMAKE_CURRENT_BINARY_DIR}/digits_${kind}.svg)
  endforeach()
  stoker_example_test(linear_regression "found y = (2.9|3.0).*\nwithin 0.0" example_linear_regression)
  stoker_example_test(xor "right answers: the line [0-3] of 4, the network 4 of 4" example_xor)
  stoker_example_test(char_transformer "to 0.[12][0-9]* in .*stand in the text: (9[0-9]|100)%"
                      example_char_transformer examples/data/stoker.txt)
  stoker_example_test(callbacks "accuracy 0.9.*stopped after epoch [1-5][0-9] of 60.*is the same to the bit"
                      example_callbacks ${CMAKE_CURRENT_BINARY_DIR}/example_checkpoints)
  stoker_example_test(fine_tuning "images: accuracy 0.9.*frozen numbers are unchanged to the bit.*has moved"
                      example_fine_tuning examples/data/digits.csv.gz)
  stoker_example_test(onnx_digit "a 3, or else a [0-9]" example_onnx_digit examples/data/mnist.onnx
                      examples/data/three.png)
  stoker_example_test(onnx_super_resolution "672 by 1344 pixels" example_onnx_super_resolution
                      examples/data/super_resolution.onnx examples/data/china.jpg
                      ${CMAKE_CURRENT_BINARY_DIR}/larger.png)
  if(TARGET stoker_command)
    stoker_example_test(predict_a_digit "3 .*three" stoker_command predict examples/data/mnist.onnx --input
                        Input3=examples/data/three.png --top 1 --labels examples/data/digit_names.txt --device cpu)
    stoker_example_test(predict_from_a_script "edges uint8.427,640,1.*light float.*0.5" stoker_command predict
                        examples/scripts/edges_model.lua --input photo=examples/data/china.jpg --device cpu)
    foreach(device cpu vulkan)
      stoker_example_test(digit_in_lua_on_${device} "a 3" stoker_command run examples/scripts/digit.lua
                          --device ${device})
      stoker_example_test(super_resolution_in_lua_on_${device} "672	1344" stoker_command run
                          examples/scripts/super_resolution.lua --device ${device}
                          output=${CMAKE_CURRENT_BINARY_DIR}/larger_${device}.png
                          --allow ${CMAKE_CURRENT_BINARY_DIR})
      stoker_example_test(edges_on_${device} "saved .*edges_${device}.png" stoker_command run
                          examples/scripts/edges.lua --device ${device}
                          output=${CMAKE_CURRENT_BINARY_DIR}/edges_${device}.png
                          --allow ${CMAKE_CURRENT_BINARY_DIR})
      stoker_example_test(poster_on_${device} "saved .*poster_${device}.png" stoker_command run
                          examples/scripts/poster.lua --device ${device}
                          output=${CMAKE_CURRENT_BINARY_DIR}/poster_${device}.png
                          --allow ${CMAKE_CURRENT_BINARY_DIR})
      stoker_example_test(classes_on_${device} "row 2 sums to 1.000000" stoker_command run
                          examples/scripts/classes.lua --device ${device})
    endforeach()
  endif()
endif()
