interface Frame {
  /** The object's names so far; null in an array. */
  readonly names: Set<string> | null;
  at: string | number;
}

/** Finds a repeated name in JSON (dotted path): `JSON.parse` keeps the last, so two readers could see two amounts. */
export function repeatedName(text: string, named?: (path: string, at: number) => void): string | null {
  let repeated: string | null = null;
  const frames: Frame[] = [];
  let awaitsName = false;
  for (let at = 0; at < text.length; at++) {
    const frame = frames.at(-1);
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
        frames.push({ names: new Set(), at: '' });
        awaitsName = true;
        break;
      case OPEN_ARRAY:
        frames.push({ names: null, at: 0 });
        awaitsName = false;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        frames.pop();
        awaitsName = false;
        break;
      case COMMA:
        awaitsName = frame?.names != null;
        if (typeof frame?.at === 'number') frame.at++;
        break;
      case QUOTE: {
        const end = endOfText(text, at);
        if (awaitsName && frame?.names) {
          const name = String(JSON.parse(text.slice(at, end + 1)));
          frame.at = name;
          const path = () => frames.map((one) => one.at).join('.');
          named?.(path(), at);
          if (frame.names.has(name)) repeated ??= path();
          frame.names.add(name);
          awaitsName = false;
        }
        at = end;
      }
    }
  }
  return repeated;
}

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, QUOTE, BACKSLASH] = [
  0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x22, 0x5c,
];

/** Finds the closing quote: the first after an even number of backslashes. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
