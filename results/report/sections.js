/* The page: a heading and what its kind makes of each section. */
const kinds = {
    facts: (section) => [element("dl", {}, section.rows.map(([name, value]) =>
        [element("dt", {}, name), element("dd", {}, value)]))],
    table: (section) => {
        const table = tableOf(section.columns, section.rows, section.title);
        if (!section.folded)
            return [table];
        const details = folded(`${section.rows.length} rows`, table);
        details.classList.add("printed");
        return [details];
    },
    text: () => [],
    timeline,
    roofline,
    landscape,
    pareto,
    treemap,
    spans,
    chips,
    curves,
};

function show(section) {
    return element("section", {},
        element("h2", {}, section.title),
        section.note ? element("p", {class: "note"}, section.note) : null,
        kinds[section.kind]?.(section) ?? []);
}

document.title = `${data.title} – autotune`;
document.getElementById("report").append(
    element("h1", {}, data.title),
    element("p", {class: "lead"}, data.lead),
    ...data.sections.map(show),
    element("footer", {},
        element("p", {}, `Made by autotune ${data.version}, model version ${data.model}, with`),
        element("pre", {}, element("code", {}, data.command))));
charts.forEach((chart) => chart.open());
watchColours();
