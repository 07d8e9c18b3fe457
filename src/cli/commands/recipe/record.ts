import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { type HttpRequest, HttpResponse, json, readBody } from '../../../kernel/http.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { counted, fieldLines } from '../../../terminal/index.ts';
import { dateOption } from '../../searching/index.ts';
import { settingsIn } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { nextLines } from '../../view/index.ts';
import { httpServer } from '../serve/index.ts';
import { begunRecipe, carrierSite, fileThere, write } from './run.ts';
import type * as spec from './spec.ts';

type Recording = Awaited<ReturnType<Awaited<ReturnType<CommandContext['session']['recordingDesk']>>['openRecording']>>;

/** Records a recipe while a person walks through a site, from a page on this machine. */
export const recipeRecord: Run<typeof spec.recipeRecord> = async (context, options) => {
  const { terminal, session, environment, signal } = context;
  const { url, carrier, from: origin, to: destination, out } = options;
  const { hostname, origin: site } = carrierSite(url, carrier);
  const file = resolve(out);
  if (existsSync(file)) throw fileThere(file);
  const departDate = await dateOption(context, '--depart', options.depart);
  const desk = await session.recordingDesk();
  const recording = await desk.openRecording({
    ...{ url, chromium: settingsIn(environment)('chromium'), isHeaded: options.headed === true },
    query: { origin, destination, departDate, adults: 1, cabinClass: 'economy' },
  });
  let end = (): void => undefined;
  const done = new Promise<void>((ended, failed) => {
    end = ended;
    signal.addEventListener('abort', () => failed(signal.reason), { once: true });
  });
  const token = randomBytes(16).toString('hex');
  const server = httpServer((request) => answer(request, { recording, token, pages: desk.RECORDED_PAGES, end }));
  try {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    terminal.aside([
      `Open ${`http://127.0.0.1:${port}/${token}/`} and walk to the till as this traveller, with this card. Nothing is paid.`,
      ...fieldLines(
        (text) => text,
        Object.fromEntries(Object.entries(recording.typed).map(([name, value]) => [name, value ?? '–'])),
      ),
      'Say there which page has begun, and Done at the end.',
    ]);
    await done;
    await recording.settled();
    const draft = recording.draft(await begunRecipe(session, { code: carrier, name: options.name ?? hostname, site }));
    write(file, `${JSON.stringify(draft, null, 2)}\n`);
    const { mistakes } = (await session.recipeDesk()).readRecipes([file]);
    terminal.result(
      { file, mistakes },
      {
        lines: (_, { paint }) => [
          `${paint.good('✓')} Wrote ${file}`,
          `${counted(mistakes.length, 'place')} left to fill in`,
        ],
      },
    );
    terminal.aside(['', ...nextLines(farelock`recipe check ${out}`)]);
    return 0;
  } finally {
    server.closeAllConnections();
    server.close();
    await recording.close();
  }
};

const HTML = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
};
const MOST_BYTES = 10_000;

/** An action of the person: a click, a turn of the wheel, a key, or a button beside the picture. */
interface Act {
  readonly x?: number;
  readonly y?: number;
  readonly wheel?: number;
  readonly key?: string;
  readonly begins?: string;
  readonly done?: true;
}

async function answer(
  request: HttpRequest,
  {
    recording,
    token,
    pages,
    end,
  }: { readonly recording: Recording; readonly token: string; readonly pages: readonly string[]; end(): void },
): Promise<HttpResponse> {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith(`/${token}/`)) return new HttpResponse(404, null);
  const { page } = recording;
  switch (`${request.method} ${pathname.slice(token.length + 1)}`) {
    case 'GET /':
      return new HttpResponse(200, leadingPage(pages), HTML);
    case 'GET /picture':
      return json({
        picture: (await page.screenshot({ type: 'jpeg', quality: 60, timeout: 15_000 })).toString('base64'),
      });
    case 'GET /lines':
      return json({ lines: recording.lines });
    case 'POST /act': {
      const body = await readBody(request.body, MOST_BYTES);
      for (const act of JSON.parse(new TextDecoder().decode(body ?? new Uint8Array())) as Act[]) {
        if (act.x !== undefined && act.y !== undefined) await page.mouse.click(act.x, act.y);
        if (act.wheel !== undefined) await page.mouse.wheel(0, act.wheel);
        // Keyboards have keys that a page does not know.
        if (act.key !== undefined) await pressed(page.keyboard, act.key).catch(() => undefined);
        const begun = pages.find((one) => one === act.begins);
        if (begun !== undefined) recording.begins(begun as Parameters<Recording['begins']>[0]);
        if (act.done) end();
      }
      return json({});
    }
    default:
      return new HttpResponse(404, null);
  }
}

/** Types a single character, as date fields need it, or presses a named key. */
const pressed = (keyboard: Recording['page']['keyboard'], key: string): Promise<void> =>
  [...key].length === 1 ? keyboard.type(key) : keyboard.press(key);

const leadingPage = (pages: readonly string[]): string => `<!doctype html><meta charset="utf-8"><title>Recording</title>
<style>body{font:14px sans-serif;margin:8px}img{border:1px solid #888;max-width:100%}pre{max-height:14em;overflow:auto}</style>
<p>This page has begun: ${pages.map((one) => `<button data-begins="${one}">${one}</button>`).join(' ')} <button data-clear>Empty the field</button> <button data-done>Done</button></p>
<img id="site" tabindex="0" alt="The site"><pre id="lines"></pre>
<script>
const site = document.querySelector('#site');
const waiting = [];
let sending;
// One after the other, and those that wait together.
const send = async () => {
  while (waiting.length) await fetch('act', { method: 'POST', body: JSON.stringify(waiting.splice(0, 50)) }).catch(() => {});
  sending = undefined;
};
const act = (what) => { waiting.push(what); sending ??= send(); };
const show = async () => {
  try {
    const { picture } = await (await fetch('picture')).json();
    if (picture) site.src = 'data:image/jpeg;base64,' + picture;
  } catch {}
  setTimeout(show, 300);
};
show();
setInterval(async () => { document.querySelector('#lines').textContent = (await (await fetch('lines')).json()).lines.slice(-12).join('\\n'); }, 1000);
site.onclick = (event) => {
  site.focus();
  const scale = site.naturalWidth / site.clientWidth;
  act({ x: event.offsetX * scale, y: event.offsetY * scale });
};
site.onwheel = (event) => { event.preventDefault(); act({ wheel: event.deltaY }); };
site.onkeydown = (event) => {
  const { key, shiftKey } = event;
  const isControl = event.ctrlKey || event.metaKey;
  if (isControl && !/^(a|z|Backspace|Delete|Home|End|Arrow.*)$/.test(key)) return;
  event.preventDefault();
  if (/^(Shift|Control|Alt|AltGraph|Meta|Dead|CapsLock|Process|Unidentified)$/.test(key)) return;
  act({ key: isControl ? 'ControlOrMeta+' + key : shiftKey && key.length > 1 ? 'Shift+' + key : key });
};
site.onpaste = (event) => [...event.clipboardData.getData('text')].forEach((key) => act({ key }));
for (const button of document.querySelectorAll('button'))
  button.onclick = () => {
    const { begins, clear } = button.dataset;
    if (clear === undefined) return act(begins ? { begins } : { done: true });
    for (const key of ['ControlOrMeta+a', 'Delete']) act({ key });
    site.focus();
  };
</script>`;
