# The page of --report: uPlot, from npm by the lock file, and results/report/ as a C array.
# Once the package is in build/npm nothing here needs a network.
# ON: with them, or no build; OFF: without; AUTO: with them where node and npm can.
set(AUTOTUNE_REPORT AUTO CACHE STRING "Build the pages of --report in: ON, OFF or AUTO")
set_property(CACHE AUTOTUNE_REPORT PROPERTY STRINGS AUTO ON OFF)
set(page_source ${CMAKE_BINARY_DIR}/report_page.c)

# Another build of the same sources may have it already.
function(find_uplot)
    foreach(build ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/build)
        if(EXISTS ${build}/npm/node_modules/uplot/dist/uPlot.iife.min.js AND NOT
           ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package-lock.json IS_NEWER_THAN ${build}/npm/node_modules/.package-lock.json)
            set(uplot ${build}/npm/node_modules/uplot PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

# Says why pages cannot be built in; with ON that is the end.
function(leave_out why)
    if(AUTOTUNE_REPORT STREQUAL "AUTO")
        message(WARNING "the pages of --report are left out: ${why}; then configure again")
    else()
        message(FATAL_ERROR "${why}, or leave the pages of --report out with -DAUTOTUNE_REPORT=OFF")
    endif()
endfunction()

function(install_uplot)
    find_program(NPM npm)
    if(NOT NPM)
        leave_out("npm is missing, which fetches uPlot: install it (Debian: npm)")
        return()
    endif()
    foreach(file package.json package-lock.json .npmrc)
        configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${file} ${CMAKE_BINARY_DIR}/npm/${file}
                       COPYONLY)
    endforeach()
    message(STATUS "Fetching uPlot by npm")
    execute_process(COMMAND ${NPM} ci WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/npm TIMEOUT 180
                    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
        leave_out("npm could not fetch uPlot: ${said}\nGive it a network once")
        return()
    endif()
    set(uplot ${CMAKE_BINARY_DIR}/npm/node_modules/uplot PARENT_SCOPE)
endfunction()

if(AUTOTUNE_REPORT)
    find_program(NODE NAMES node nodejs)
    if(NODE)
        find_uplot()
        if(NOT uplot)
            install_uplot()
        endif()
    else()
        leave_out("node is missing, which puts them together: install it (Debian: nodejs)")
    endif()
endif()
if(uplot)
    # In the order in which they need each other.
    set(page_parts page.css page.js chart.js timeline.js roofline.js landscape.js pareto.js chips.js sections.js)
    list(TRANSFORM page_parts PREPEND ${CMAKE_SOURCE_DIR}/results/report/ OUTPUT_VARIABLE page_files)
    add_custom_command(OUTPUT ${page_source}
        COMMAND ${NODE} ${CMAKE_CURRENT_LIST_DIR}/embed.mjs ${uplot} ${CMAKE_SOURCE_DIR}/results/report
                ${page_source} ${page_parts}
        DEPENDS ${CMAKE_CURRENT_LIST_DIR}/embed.mjs ${page_files} ${uplot}/dist/uPlot.iife.min.js
        COMMENT "Embedding the page of --report" VERBATIM)
else()
    file(WRITE ${page_source}
         "#include \"results/report_page.h\"\n\n"
         "const unsigned char report_before[1], report_after[1];\n"
         "const size_t report_before_size, report_after_size;\n")
endif()
target_sources(results PRIVATE ${page_source})
