// Opens pages of --report in headless Chromium and checks what a reader would see: charts are
// drawn, nothing is asked of any network, keys zoom, and it works dark, narrow and printed.
//
//   node browse.mjs CHROMIUM PROFILE_DIR PAGE...    prints "ok" or "FAILED" lines
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [chromium, profile, ...pages] = process.argv.slice(2);
let failed = 0;
function expect(what, condition, seen) {
    if (!condition)
        failed++;
    console.log(condition ? `ok     ${what}` : `FAILED ${what}: ${(JSON.stringify(seen) ?? "").slice(0, 400)}`);
}

/* The DevTools protocol over a pipe: messages end with a zero byte. */
class Browser {
    constructor() {
        this.process = spawn(chromium, ["--headless=new", "--no-sandbox", "--disable-gpu",
            "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run",
            "--disable-component-update", "--disable-background-networking", "--disable-sync",
            `--user-data-dir=${profile}`, "about:blank"],
        { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
        this.waiting = new Map();
        this.listeners = [];
        this.next = 1;
        let rest = "";
        this.process.stdio[4].setEncoding("utf8").on("data", (chunk) => {
            const parts = (rest + chunk).split("\0");
            rest = parts.pop();
            parts.forEach((part) => this.take(JSON.parse(part)));
        });
        this.process.on("exit", () => this.waiting.forEach(({ reject }) =>
            reject(new Error("Chromium has ended"))));
    }

    take(message) {
        const { resolve, reject } = this.waiting.get(message.id) ?? {};
        this.waiting.delete(message.id);
        if (message.error)
            reject?.(new Error(message.error.message));
        else if (message.id)
            resolve?.(message.result);
        else
            this.listeners.forEach((listener) => listener(message.method, message.params));
    }

    send(method, params = {}, sessionId = undefined) {
        const id = this.next++;
        this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    }

    close() {
        return new Promise((done) => {
            this.process.on("exit", done);
            this.send("Browser.close").catch(() => {});
        });
    }
}

/* A page that was loaded, what it asked for and what went wrong in it. */
async function open(browser, file) {
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    const page = { requests: [], stopped: new Set(), faults: [], send: (m, p) => browser.send(m, p, sessionId) };
    page.evaluate = async (expression) => {
        const { result, exceptionDetails } = await page.send("Runtime.evaluate",
            { expression, returnByValue: true, awaitPromise: true });
        if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    };
    const loaded = new Promise((done) => browser.listeners.push((method, params) => {
        if (method === "Network.requestWillBeSent")
            page.requests.push({ id: params.requestId, url: params.request.url });
        if (method === "Network.loadingFailed" && params.blockedReason === "csp")
            page.stopped.add(params.requestId);
        if (method === "Runtime.exceptionThrown")
            page.faults.push(params.exceptionDetails.exception?.description);
        if (method === "Log.entryAdded" && params.entry.level !== "verbose")
            page.faults.push(params.entry.text);
        if (method === "Page.loadEventFired")
            done();
    }));
    for (const domain of ["Network", "Runtime", "Log", "Page"])
        await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride",
        { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false });
    await page.send("Page.navigate", { url: pathToFileURL(resolve(file)).href });
    await loaded;
    await settle(page);
    return page;
}

/* uPlot draws in a microtask, observers of sizes after a frame. */
const settle = (page) => page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");

const canvases = "[...document.querySelectorAll('.chart canvas')]";
const pictures = (page) => page.evaluate(`${canvases}.map((canvas) => canvas.toDataURL())`);

/* How many pixels of a chart are drawn on, and in how many colours. */
const inks = (page) => page.evaluate(`${canvases}.map((canvas) => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    let drawn = 0;
    for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 0) {
            drawn++;
            colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
        }
    return {drawn, colours: colours.size, share: drawn / (canvas.width * canvas.height)};
})`);

async function press(page, key, code) {
    for (const type of ["keyDown", "keyUp"])
        await page.send("Input.dispatchKeyEvent", { type, key, windowsVirtualKeyCode: code });
    await settle(page);
}

async function checkKeys(page, index) {
    await page.evaluate(`document.querySelectorAll(".chart")[${index}].focus()`);
    const whole = (await pictures(page))[index];
    const seen = [whole];
    for (const [key, code] of [["+", 187], ["+", 187], ["ArrowRight", 39], ["ArrowLeft", 37],
        ["-", 189], ["Escape", 27]]) {
        await press(page, key, code);
        const now = (await pictures(page))[index];
        if (key !== "Escape")
            expect(`chart ${index}: ${key} changes the view`, now !== seen.at(-1));
        else
            expect(`chart ${index}: Escape shows all again`, now === whole);
        seen.push(now);
    }
}

async function checkReading(page, charts) {
    const texts = await page.evaluate(`(() => ({
        charts: [...document.querySelectorAll(".chart")].map((c) => c.getAttribute("aria-label")),
        tables: document.querySelectorAll("section:has(.chart) table").length,
        sections: document.querySelectorAll("section:has(.chart)").length,
        markup: document.querySelectorAll("#report img, #report script, #report b, [onerror]").length,
        handlers: [...document.querySelectorAll("*")].filter((e) =>
            [...e.attributes].some((a) => a.name.startsWith("on"))).length,
        touched: window.touched ?? null}))()`);
    expect("every chart has a label", texts.charts.every((t) => t?.length > 20), texts.charts);
    expect("a table stands beside every chart", texts.tables >= texts.sections && texts.sections > 0 ||
        charts === 0, texts);
    expect("no text of the data became markup", texts.markup === 0 && texts.touched === null, texts);
    expect("no inline event handlers", texts.handlers === 0, texts.handlers);
}

async function checkScreens(page) {
    const light = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const bright = await pictures(page);
    await page.send("Emulation.setEmulatedMedia",
        { features: [{ name: "prefers-color-scheme", value: "dark" }] });
    await settle(page);
    const dark = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const dim = await pictures(page);
    expect("dark mode has another ground", light === "rgb(255, 255, 255)" && dark !== light, dark);
    expect("and other colours in the charts", dim.every((picture, i) => picture !== bright[i]));
    await page.send("Emulation.setEmulatedMedia", { features: [] });
    await page.send("Emulation.setDeviceMetricsOverride",
        { width: 360, height: 740, deviceScaleFactor: 2, mobile: true });
    await settle(page);
    await settle(page);
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect("nothing is wider than a phone", width <= 360, width);
    const { data } = await page.send("Page.printToPDF", { printBackground: true });
    expect("it can be printed", data.length > 10000, data.length);
}

/* What the policy must stop, should a text ever become markup: a script that is not the page's own, and
 * an address to load. */
async function checkPolicy(page) {
    await page.evaluate(`(() => {
        const script = document.createElement("script");
        script.textContent = "window.touched = 1";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<img src='http://127.0.0.1:9/x' onerror='window.touched = 2'>");
        fetch("http://127.0.0.1:9/y").catch(() => {});
    })()`);
    await settle(page);
    const touched = await page.evaluate("window.touched ?? null");
    expect("the policy stops other scripts", touched === null, touched);
    const sent = page.requests.filter(({ id }) => !page.stopped.has(id));
    expect("and every request", sent.length === 1, sent);
}

async function check(browser, file) {
    console.log(`       ${file}`);
    const page = await open(browser, file);
    const drawn = await inks(page);
    const charts = await page.evaluate("document.querySelectorAll('section .chart').length");
    expect("every chart is drawn", drawn.length === charts && drawn.every((ink) =>
        ink.drawn > 1000 && ink.colours > 5), drawn);
    for (let i = 0; i < charts; i++)
        await checkKeys(page, i);
    await checkReading(page, charts);
    await checkScreens(page);
    expect("no request but for the page itself", page.requests.length === 1, page.requests);
    expect("no error, no violation of the policy", page.faults.length === 0, page.faults);
    await checkPolicy(page);
}

const browser = new Browser();
try {
    for (const page of pages)
        await check(browser, page);
} catch (error) {
    expect("no exception", false, String(error));
}
await browser.close();
process.exit(failed ? 1 : 0);
