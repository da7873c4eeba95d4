# The page of --report: results/report/ as a C array. Its parts in the order in which they need each
# other.
set(page_parts page.css page.js chart.js timeline.js roofline.js landscape.js pareto.js treemap.js spans.js chips.js curves.js sections.js)
list(TRANSFORM page_parts PREPEND ${CMAKE_SOURCE_DIR}/results/report/)
set(page_source ${CMAKE_BINARY_DIR}/report_page.c)
add_custom_command(OUTPUT ${page_source}
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/embed ${page_parts} > ${page_source}
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/embed ${page_parts}
    COMMENT "Embedding the page of --report" VERBATIM)
target_sources(results PRIVATE ${page_source})
