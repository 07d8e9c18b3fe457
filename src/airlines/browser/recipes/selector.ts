import { nearest } from '../../../kernel/nearest.ts';

/** Pseudo-classes of Chromium and Playwright that a page can be searched by. */
const PSEUDO = [
  'active any-link autofill checked default defined dir disabled empty enabled first-child first-of-type focus',
  'focus-visible focus-within fullscreen has hover in-range indeterminate invalid is lang last-child',
  'last-of-type link modal not nth-child nth-last-child nth-last-of-type nth-of-type only-child only-of-type',
  'open optional out-of-range placeholder-shown popover-open read-only read-write required root scope state',
  'target user-invalid user-valid valid visited where above below has-text left-of light near nth-match',
  'right-of text text-is text-matches visible',
].flatMap((line) => line.split(' '));

/** Playwright's other selector engines, whose selectors are not checked here. */
const ENGINE = /^(?:xpath|text|id|data-test(?:-?id)?|nth|visible)\s*=|^\(*\/\/|^\.\.(?:\/|$)/;

/** True for a selector that takes the n-th match. */
export const pointsByPosition = (selector: string): boolean => /(?:^|>>)\s*nth\s*=|:nth-match\(/.test(selector);

interface Fault {
  readonly message: string;
  readonly nearest: string | null;
}

const NAME = /(?:[\w-]|[^\0-\x7f]|\\.)+/y;
/** One part of a compound: `*`, `tag`, `#id`, `.class`, `[attribute=value]`. */
const PARTS = [
  /[#.](?:[a-z_-]|[^\0-\x7f]|\\.)(?:[\w-]|[^\0-\x7f]|\\.)*/iy,
  /\[\s*(?:[\w:-]|[^\0-\x7f]|\\.)+\s*(?:[~|^$*]?=\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?:[\w-]|[^\0-\x7f]|\\.)+)\s*[is]?\s*)?\]/iy,
  /\*|(?:[a-z_-]|[^\0-\x7f]|\\.)(?:[\w-]|[^\0-\x7f]|\\.)*/iy,
];

/** Says why a selector cannot be used; null if it can. */
export function selectorFault(selector: string): Fault | null {
  const chained = selector.split('>>').map((one) => one.trim());
  for (const part of chained) {
    const fault = ENGINE.test(part) ? null : cssFault(part.replace(/^css\s*=/, ''));
    if (fault) return fault;
  }
  return null;
}

function cssFault(css: string): Fault | null {
  let at = 0;
  const fault = (message: string, near: string | null = null): Fault => ({
    message: `is no CSS selector: ${message}`,
    nearest: near,
  });
  const matched = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const [found = null] = pattern.exec(css) ?? [];
    if (found !== null) at += found.length;
    return found;
  };
  let isEmpty = true;
  // A selector may begin with a combinator (`> li`), as it is searched within a place.
  matched(/\s*[>+~]?\s*/y);
  while (at < css.length) {
    if (PARTS.some((part) => matched(part) !== null)) {
      isEmpty = false;
      continue;
    }
    if (matched(/:/y) !== null) {
      if (css[at] === ':') return fault('a pseudo-element is no place on a page');
      const name = matched(NAME)?.toLowerCase() ?? '';
      if (!PSEUDO.includes(name) && !name.startsWith('-webkit-')) {
        const near = name === 'contains' ? 'has-text' : (nearest(name, PSEUDO, 1)[0] ?? null);
        return fault(`there is no ":${name}"`, near && `:${near}`);
      }
      isEmpty = false;
      if (css[at] === '(' && !skipBrackets()) return fault(`":${name}(" is not closed`);
      continue;
    }
    const between = matched(/\s*[>+~,]\s*|\s+/y);
    if (between === null) return fault(`"${[...css.slice(at)].slice(0, 20).join('')}" is not understood`);
    if (at >= css.length && between.trim() === '') break;
    if (isEmpty || at >= css.length)
      return fault(`there is nothing ${isEmpty ? 'before' : 'after'} "${between.trim() || ' '}"`);
    isEmpty = between.trim() !== '';
  }
  return isEmpty ? fault(css.trim() === '' ? 'it is empty' : 'its end is missing') : null;

  function skipBrackets(): boolean {
    let depth = 0;
    do {
      const found = matched(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()]|[^()"']+/y);
      if (found === null) return false;
      depth += found === '(' ? 1 : found === ')' ? -1 : 0;
    } while (depth > 0);
    return true;
  }
}
