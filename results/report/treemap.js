/* Areas by time: operators within their kinds, as close to squares as the room allows (M. Bruls,
 * K. Huizing, J. van Wijk, Squarified Treemaps, 2000). Of each a part is hatched: what the best
 * tiling would save. */
const VERDICTS = {pays: "--c4", "may pay": "--c1", "well tiled": "--c2"};
const KIND_COLOURS = 8;
const LINE = 16, LEAST = {kind: 56, cell: 90}; /* pixels: the height of a text, the least width that has one */

/* Places of things {ns} that fall by time, in a box {left, top, width, height}. Rows fill its shorter
 * side; a thing joins a row while that makes the row's worst shape no worse. */
function squarify(things, box) {
    const whole = things.reduce((sum, {ns}) => sum + ns, 0), places = [];
    const scale = box.width * box.height / whole;
    let {left, top, width, height} = box;
    const worst = (row, sum, side) => Math.max(...[row[0], row.at(-1)].map(({ns}) =>
        Math.max(side * side * ns / (sum * sum * scale), sum * sum * scale / (side * side * ns))));
    for (let from = 0, to; from < things.length; from = to) {
        const side = Math.min(width, height), wide = height <= width;
        let sum = things[from].ns, shape = worst([things[from]], sum, side);
        for (to = from + 1; to < things.length; to++) {
            const next = worst([things[from], things[to]], sum + things[to].ns, side);
            if (next > shape)
                break;
            sum += things[to].ns;
            shape = next;
        }
        const depth = sum * scale / side;
        let at = 0;
        for (const thing of things.slice(from, to)) {
            const length = side * thing.ns / sum;
            places.push(wide ? {thing, left, top: top + at, width: depth, height: length}
                : {thing, left: left + at, top, width: length, height: depth});
            at += length;
        }
        if (wide) {
            left += depth;
            width -= depth;
        } else {
            top += depth;
            height -= depth;
        }
    }
    return places;
}

/* Those that take most first. */
function byKind(cells) {
    const groups = new Map();
    for (const [kind, text, ns, saved, verdict] of cells) {
        if (!(ns > 0))
            continue;
        if (!groups.has(kind))
            groups.set(kind, {kind, ns: 0, cells: []});
        groups.get(kind).ns += ns;
        groups.get(kind).cells.push({kind, text, ns, saved, verdict});
    }
    return [...groups.values()].sort((a, b) => b.ns - a.ns);
}

/* As much of a text as fits, on a piece of a ground where it is given one. */
function fitText(ctx, text, left, top, room, ground) {
    const width = ctx.measureText(text).width, letters = Math.floor(text.length * room / width) - 1;
    if (width > room && letters < 3)
        return;
    const fitting = width > room ? `${text.slice(0, letters)}…` : text;
    if (ground) {
        ctx.fillStyle = ground;
        ctx.fillRect(left - 3, top - 2, Math.min(ctx.measureText(fitting).width, room) + 6, LINE);
    }
    ctx.fillStyle = colour("--ground");
    ctx.fillText(fitting, left, top);
}

function treemapLegend(groups, tuned) {
    const entry = (paint, text) => element("span", {}, swatch(paint), text);
    if (!tuned)
        return element("div", {class: "legend"}, groups.slice(0, KIND_COLOURS).map(({kind}, i) =>
            entry(`--c${i}`, kind ?? "the rest")), groups.length > KIND_COLOURS ? entry("--faint", "others") : null);
    const sample = element("canvas", {class: "sample", width: 48, height: 24, "aria-hidden": "true"});
    swatches.push([sample, (ctx) => {
        ctx.fillStyle = colour("--c4");
        ctx.fillRect(0, 0, 48, 24);
        hatch(ctx, 0, 0, 48, 24);
    }]);
    return element("div", {class: "legend"}, Object.entries(VERDICTS).map(([verdict, paint]) =>
        entry(paint, verdict)),
    entry("--faint", "no tiling known"), element("span", {}, sample, "would be saved"));
}

function treemap(section) {
    const groups = byKind(section.cells), whole = groups.reduce((sum, {ns}) => sum + ns, 0);
    if (groups.length === 0)
        return kinds.table(section);
    const {tuned} = section;
    const colourOf = (cell, group) => tuned ? VERDICTS[cell.verdict] ?? "--faint"
        : group < KIND_COLOURS ? `--c${group}` : "--faint";
    const share = (thing) => percentText(thing.ns / whole);
    const nameOf = ({kind}) => kind ?? "the rest";
    let shown = []; /* places of cells in the chart's units, from 0 to 1 upwards */

    function lay({width, height}) {
        const unit = ({thing, left, top, width: w, height: h}) =>
            ({thing, x: left / width, y: 1 - (top + h) / height, w: w / width, h: h / height});
        const places = squarify(groups, {left: 0, top: 0, width, height});
        shown = places.flatMap((place) => squarify(place.thing.cells, place).map(unit)
            .map((cell) => ({...cell, group: groups.indexOf(place.thing)})));
        return places.map(unit);
    }

    function drawCell(chart, ctx, place) {
        const {left, top, width, height} = chart.rectangle(place), {thing} = place;
        const ground = colour(colourOf(thing, place.group)), gap = Math.min(width, height) > 4 ? 1 : 0;
        ctx.fillStyle = ground;
        ctx.fillRect(left, top, width - gap, height - gap);
        const saved = chart.rectangle({...place, x: place.x + place.w * (1 - thing.saved / thing.ns),
            w: place.w * thing.saved / thing.ns});
        if (saved.width > 0)
            hatch(ctx, saved.left, saved.top, saved.width - gap, saved.height - gap);
        ctx.font = FONT;
        if (width > LEAST.cell && height > 3.5 * LINE)
            [thing.text, `${timeText(thing.ns)}, ${share(thing)}`].forEach((text, line) => fitText(ctx, text,
                left + 6, top + height - (2 - line) * LINE - 4, width - 12, thing.saved > 0 ? ground : null));
    }

    function draw(chart, ctx) {
        const places = lay(chart.box);
        ctx.textAlign = "left";
        ctx.textBaseline = "top";
        shown.forEach((place) => drawCell(chart, ctx, place));
        for (const place of places) {
            const {left, top, width, height} = chart.rectangle(place);
            ctx.strokeStyle = colour("--ground");
            ctx.lineWidth = 4;
            ctx.strokeRect(left - 0.5, top - 0.5, width, height);
            ctx.font = `bold ${FONT}`;
            if (width > LEAST.kind && height > 1.5 * LINE)
                fitText(ctx, `${nameOf(place.thing)} ${share(place.thing)}`, left + 6, top + 5, width - 12,
                    colour(colourOf(place.thing.cells[0], groups.indexOf(place.thing))));
        }
    }

    function read(chart, x, y) {
        const place = shown.find((place) => x >= place.x && x <= place.x + place.w &&
            y >= place.y && y <= place.y + place.h);
        if (!place)
            return "";
        const {thing} = place;
        return `${nameOf(thing)} ${thing.text}: ${timeText(thing.ns)} in all calls, ${share(thing)}` +
            (thing.saved > 0 ? `; the best tiling would save ${timeText(thing.saved)}` : "") +
            (thing.verdict ? `: ${thing.verdict}` : "");
    }

    const side = {min: 0, max: 1, names: []};
    const chart = new Chart({
        label: `${section.title}, as areas: ${groups.slice(0, KIND_COLOURS).map((group) =>
            `${nameOf(group)} ${share(group)}`).join(", ")}`,
        hint: "Point at an area to read it; drag over some to look closer.",
        height: (width) => Math.min(480, Math.max(320, width * 0.45)),
        x: side, y: {...side, size: 24}, zoomY: true, draw, read, legend: treemapLegend(groups, tuned),
    });
    return [chart.figure, ...kinds.table(section)];
}
