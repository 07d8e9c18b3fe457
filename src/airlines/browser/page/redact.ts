import type { Frame, Page } from 'playwright-core';
import { escaped } from '../recipes/index.ts';

/** Removes data of people and cards from a page and its text. */

const BLACK = '█████';

/** Letters with a two-letter spelling. */
const AS_TWO: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'oe?', å: 'aa?', þ: 'th', ð: 'd' };

/** Matches a letter's spellings in decomposed text (NFD). */
function letterPattern(letter: string): string {
  const [base = '', ...marks] = letter.normalize('NFD');
  const two = AS_TWO[letter.toLowerCase()];
  const own = `${escaped(base)}\\p{M}*${marks.includes('\u0308') ? 'e?' : ''}`;
  return two === undefined ? own : `(?:${own}|${two})`;
}

/**
 * Matches a value as pages write it: in any case, with or without accents, grouped by spaces, dots or strokes. Short
 * values match as whole words only.
 */
function patternOf(value: string): string | null {
  const letters = [...value.normalize('NFC')].filter((letter) => /[\p{L}\p{N}@]/u.test(letter));
  if (letters.length < 2) return null;
  const joined = letters.map(letterPattern).join(`[\\s\\p{Cc}\\p{Cf}./_+'’()·*-]{0,2}`);
  return letters.length < 4 ? `(?<![\\p{L}\\p{N}])${joined}(?![\\p{L}\\p{N}])` : joined;
}

/** Matches anything like a card number or mail address, typed by us or not. */
const ALWAYS = ['(?<!\\d)(?:\\d[ -]?){12,18}\\d(?!\\d)', '[\\w.+%-]+@[\\w-]+(?:\\.[\\w-]+)+'];

/** One expression for all values, the longest first. */
export function privateWords(values: Iterable<string>): string {
  const exactly = (value: string) =>
    /[^\p{L}\p{N}@\s]/u.test(value) && value.length > 3 ? escaped(value.normalize('NFD')) : [];
  const patterns = [...values]
    .sort((a, b) => b.length - a.length)
    .flatMap((value) => [exactly(value), patternOf(value) ?? []].flat());
  return [...ALWAYS, ...patterns].join('|');
}

export const redacted = (text: string, words: string): string =>
  printable(text).normalize('NFD').replace(new RegExp(words, 'giu'), BLACK).normalize('NFC');

/** Removes control and invisible characters, except line ends and tabs. */
const printable = (text: string): string => text.replace(/\p{Cf}/gu, '').replace(/[^\P{Cc}\n\t]/gu, ' ');

/** Runs in the page: redacts texts, visible attributes and all input. */
const BLACK_OUT = `({ words, black }) => {
  const pattern = new RegExp(words, 'giu');
  const clean = (text) => {
    const apart = text.normalize('NFD');
    const left = apart.replace(pattern, black);
    return left === apart ? text : left.normalize('NFC');
  };
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        const text = clean(node.data);
        if (text !== node.data) node.data = text;
        continue;
      }
      if (node.shadowRoot) visit(node.shadowRoot);
      for (const name of ['value', 'placeholder', 'title', 'alt', 'aria-label', 'label']) {
        const value = node.getAttribute(name);
        if (value !== null && clean(value) !== value) node.setAttribute(name, clean(value));
      }
      if (/^(INPUT|TEXTAREA)$/.test(node.tagName) && !/^(checkbox|radio|submit|button|image|file)$/.test(node.type))
        node.value = '';
    }
    // Values spread over several elements.
    for (const node of root.querySelectorAll('*')) {
      if (node.childElementCount > 0 && node.childElementCount <= 40 && !/^(HTML|BODY|SCRIPT|STYLE)$/.test(node.tagName)) {
        const text = node.textContent;
        if (text.length < 400 && clean(text) !== text) node.textContent = clean(text);
      }
    }
  };
  visit(document);
  return document.body ? document.body.innerText : '';
}`;

const MOST_TEXT = 20_000;
const DRAW_MS = 5_000;

/**
 * Marks the site's own frames. Others are covered whole, as a bank's may show what can't be redacted (closed shadow
 * roots).
 */
const OWN = 'data-farelock-own';
const COVERED = `input, textarea, select, canvas, object, embed, fencedframe, [contenteditable], :is(iframe, frame):not([${OWN}])`;

/**
 * The page and the nested frames that the whole site is in, scripts stopped, up to the first one that can't be reached.
 */
async function ownFrames(page: Page, selectors: readonly string[]): Promise<Frame[]> {
  const own = [page.mainFrame()];
  await stopScripts(page, page);
  try {
    for (const selector of selectors) {
      const element = await own.at(-1)?.locator(selector).elementHandle({ timeout: 500 });
      const frame = await element?.contentFrame();
      if (!frame) break;
      await stopScripts(page, frame).catch((error: unknown) => {
        // The frame runs in the process of its page, and was stopped with it.
        if (!String(error).includes('separate CDP session')) throw error;
      });
      await element?.evaluate((one, mark) => one.setAttribute(mark, ''), OWN);
      own.push(frame);
    }
  } catch {
    // The frame is gone or hangs.
  }
  return own;
}

async function stopScripts(page: Page, of: Page | Frame): Promise<void> {
  const session = await page.context().newCDPSession(of);
  await session.send('Emulation.setScriptExecutionDisabled', { value: true });
}

/**
 * Redacts a page, then takes a screenshot (PNG) and reads its text; if anything fails, only its address is left. Stops
 * the page's scripts first, so that they restore nothing; the page is unusable afterwards.
 * @param frames the recipe's `site.frame`
 */
export async function showRedacted(
  page: Page,
  personal: Iterable<string>,
  frames: readonly string[] = [],
): Promise<{ readonly screenshot: Buffer | null; readonly text: string }> {
  const words = privateWords(personal);
  const address = redacted(page.url().replace(/\?.*$/s, ''), words);
  try {
    const own = await ownFrames(page, frames);
    let hasMoved = false;
    page.on('framenavigated', (frame) => {
      hasMoved ||= own.includes(frame);
    });
    const texts: string[] = [];
    for (const frame of page.frames()) {
      texts.push(await frame.evaluate<string>(`(${BLACK_OUT})(${JSON.stringify({ words, black: BLACK })})`));
    }
    const text = redacted(`${address}\n${texts.join('\n')}`, words).slice(0, MOST_TEXT);
    const screenshot = await page.screenshot({
      animations: 'disabled',
      caret: 'hide',
      timeout: DRAW_MS,
      mask: own.map((frame) => frame.locator(COVERED)),
      maskColor: '#222222',
    });
    return { screenshot: hasMoved ? null : screenshot, text };
  } catch {
    // The page is gone or hangs: only its address is left.
    return { screenshot: null, text: `${address}\nThe page could not be read.` };
  }
}
