interface JsonFault {
  readonly message: string;
  /** Line and column count from 1. */
  readonly line: number;
  readonly column: number;
}

const STRING = /"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\r\n]*/y;
const MOST_DEEP = 200;

class Fault extends Error {
  override readonly name = 'Fault';
  constructor(
    readonly at: number,
    readonly words: string,
  ) {
    super(words);
  }
}

/** Finds the first fault in JSON and its place, which `JSON.parse` does not always give. Null for valid JSON. */
export function jsonFault(text: string): JsonFault | null {
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found !== null;
  };
  const took = (letter: string): boolean => {
    skip(SPACE);
    if (text[at] !== letter) return false;
    at += 1;
    return true;
  };
  const key = (): void => {
    skip(SPACE);
    if (!skip(STRING))
      throw new Fault(at, text[at] === '}' ? 'a comma before } is too many' : 'a key in quotes is missing');
    if (!took(':')) throw new Fault(at, 'a : behind the key is missing');
  };
  const listed = (close: string, one: () => void): void => {
    if (took(close)) return;
    do {
      one();
    } while (took(','));
    if (!took(close)) throw new Fault(at, `a comma or ${close} is missing`);
  };
  const value = (depth: number): void => {
    if (depth > MOST_DEEP) throw new Fault(at, 'it is too deep');
    if (took('{')) {
      listed('}', () => {
        key();
        value(depth + 1);
      });
    } else if (took('[')) listed(']', () => value(depth + 1));
    else if (!skip(STRING) && !skip(WORD)) {
      if (text[at] === ']') throw new Fault(at, 'a comma before ] is too many');
      throw new Fault(at, at >= text.length ? 'its end is missing' : 'a value is missing');
    }
  };
  try {
    value(0);
    skip(SPACE);
    if (at < text.length) throw new Fault(at, 'there is more behind its end');
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const before = text.slice(0, error.at).split('\n');
    return { message: error.words, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
}
