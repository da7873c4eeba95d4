/* What tests/report/browse asks within a page. Each answer is a list of
 * [what should be so, whether it is, what was seen]. */
const settle = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const hosts = [...document.querySelectorAll(".chart")];
const canvases = hosts.map((host) => host.querySelector("canvas"));
const pixels = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
const pictures = () => canvases.map(pixels);
/* But for the edges of curves and dashes, which Chromium draws in more ways than one. */
const same = (a, b) => a.length === b.length &&
    a.reduce((count, value, i) => count + (Math.abs(value - b[i]) >= 64), 0) < a.length / 2000;
const ground = () => getComputedStyle(document.documentElement).backgroundColor;
const readout = (index) => hosts[index].closest("figure").querySelector(".readout").textContent;

/* How many pixels of a chart are drawn on, and in how many colours. */
function ink(canvas) {
    const data = pixels(canvas);
    const colours = new Set();
    let drawn = 0;
    for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 0) {
            drawn++;
            colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
        }
    return {drawn, colours: colours.size};
}

function drawing() {
    const seen = canvases.map(ink);
    return [["every chart is drawn", seen.every(({drawn, colours}) => drawn > 1000 && colours > 5), seen]];
}

/* The treemap's layout: areas as the times, within the box, none over another. */
function areas() {
    const box = {left: 3, top: 5, width: 700, height: 300}, faults = [];
    for (let count = 1; count <= 60; count++) {
        const things = Array.from({length: count}, () => ({ns: 10 ** (6 * Math.random())})).sort((a, b) => b.ns - a.ns);
        const whole = things.reduce((sum, {ns}) => sum + ns, 0), places = squarify(things, box), near = 1e-6;
        const ends = ({left, top, width, height}) => [left + width, top + height];
        places.forEach((a, i) => {
            const [right, bottom] = ends(a), share = a.width * a.height / (box.width * box.height);
            if (a.thing !== things[i] || Math.abs(share * whole / a.thing.ns - 1) > near)
                faults.push(["area", count, i]);
            if (a.left < box.left - near || a.top < box.top - near || right > 703 + near || bottom > 305 + near)
                faults.push(["out", count, i]);
            if (places.some((b, j) => j > i && a.left < ends(b)[0] - near && b.left < right - near &&
                a.top < ends(b)[1] - near && b.top < bottom - near))
                faults.push(["over another", count, i]);
        });
        if (places.length !== count)
            faults.push(["missing", count]);
    }
    return [["areas are the times, and apart", faults.length === 0, faults.slice(0, 3)]];
}

function keys() {
    return hosts.flatMap((host, index) => {
        const press = (key) => {
            host.dispatchEvent(new KeyboardEvent("keydown", {key}));
            return pixels(canvases[index]);
        };
        const whole = pixels(canvases[index]);
        let before = whole;
        return ["+", "+", "ArrowRight", "ArrowLeft", "-", "Escape"].map((key) => {
            const now = press(key), changed = !same(now, before);
            before = now;
            return key === "Escape" ? [`chart ${index}: Escape shows all again`, same(now, whole)]
                : [`chart ${index}: ${key} changes the view`, changed];
        });
    });
}

let kept = null;

/* What checks compare with. */
function keep() {
    kept = {ground: ground(), pictures: pictures(), readouts: hosts.map((_, index) => readout(index))};
}

function pointing(index) {
    const said = readout(index);
    const zoomed = !same(pixels(canvases[index]), kept.pictures[index]);
    hosts[index].dispatchEvent(new MouseEvent("dblclick"));
    return [[`chart ${index}: a drag zooms`, zoomed],
        [`chart ${index}: pointing says what is there`, said !== "" && said !== kept.readouts[index], said],
        [`chart ${index}: a double click shows all again`, same(pixels(canvases[index]), kept.pictures[index])]];
}

function reading() {
    const labels = hosts.map((host) => host.getAttribute("aria-label"));
    const count = (selector) => document.querySelectorAll(selector).length;
    const tables = [count("section:has(.chart)"), count("section:has(.chart) table")];
    const handlers = [...document.querySelectorAll("*")].filter((one) =>
        [...one.attributes].some(({name}) => name.startsWith("on"))).length;
    const markup = [count("#report img, #report script, #report b, [onerror]"), window.touched ?? null];
    return [["every chart has a label", labels.every((label) => label?.length > 20), labels],
        ["a table stands beside every chart", tables[1] >= tables[0] && tables[0] > 0 || hosts.length === 0, tables],
        ["no text of the data became markup", markup[0] === 0 && markup[1] === null, markup],
        ["no inline event handlers", handlers === 0, handlers]];
}

function dark() {
    const light = kept.ground;
    return [["dark mode has another ground", light === "rgb(255, 255, 255)" && ground() !== light, ground()],
        ["and other colours in the charts", pictures().every((picture, i) => !same(picture, kept.pictures[i]))]];
}

function narrow() {
    const width = document.documentElement.scrollWidth;
    return [["nothing is wider than a phone", width <= 360, width]];
}

/* What the policy must stop, should a text ever become markup: a script that is not the page's own, and
 * an address to load. */
async function policy() {
    const script = document.createElement("script");
    script.textContent = "window.touched = 1";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", "<img src='http://127.0.0.1:9/x' onerror='window.touched = 2'>");
    fetch("http://127.0.0.1:9/y").catch(() => {});
    await settle();
    return [["the policy stops other scripts", (window.touched ?? null) === null, window.touched]];
}
