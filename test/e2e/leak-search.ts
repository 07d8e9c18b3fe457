import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import bs58 from 'bs58';

/** Searches everything that a run has left behind for secrets that were planted in it. */

export interface Planted {
  /** What it is, for the report. */
  readonly name: string;
  readonly needles: readonly Buffer[];
}

export interface Place {
  /** `output of book`, or a path inside a home. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** A text as a log, a database page, a URL or a header would hold it. */
export function plantedText(name: string, text: string): Planted {
  const forms = [
    text,
    text.toUpperCase(),
    text.toLowerCase(),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ];
  const needles = [
    ...forms.map((form) => Buffer.from(form)),
    Buffer.from(text, 'utf16le'),
    Buffer.from(Buffer.from(text).toString('hex')),
    Buffer.from(Buffer.from(text).toString('hex').toUpperCase()),
    Buffer.from([...Buffer.from(text)].join(',')),
    Buffer.from([...Buffer.from(text)].join(', ')),
    ...base64Inside(Buffer.from(text)),
  ];
  return { name, needles: distinct(needles) };
}

/** A key of 64 bytes (seed and public half): the public half alone is no secret. */
export function plantedKey(name: string, key: Buffer): Planted {
  const seed = key.subarray(0, 32);
  const listed = (bytes: Buffer, between: string) => Buffer.from([...bytes].join(between));
  const needles = [
    seed,
    listed(seed, ','),
    listed(seed, ', '),
    Buffer.from(bs58.encode(seed)),
    Buffer.from(bs58.encode(key)),
    Buffer.from(seed.toString('hex')),
    Buffer.from(seed.toString('hex').toUpperCase()),
    ...base64Inside(seed),
  ];
  return { name, needles: distinct(needles) };
}

/** In base64, bytes look one of three ways, by where they begin; without the characters that neighbours share. */
function base64Inside(bytes: Buffer): Buffer[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const begin = offset === 0 ? 0 : offset + 1;
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const inner = text.slice(begin, end);
    return [Buffer.from(inner), Buffer.from(inner.replaceAll('+', '-').replaceAll('/', '_'))];
  });
}

const distinct = (needles: readonly Buffer[]): Buffer[] => [
  ...new Map(needles.map((needle) => [needle.toString('latin1'), needle])).values(),
];

/** Every file under a folder, byte for byte: databases with their write-ahead logs too. */
export function filesUnder(folder: string): Place[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ name: relative(folder, path).split(sep).join('/'), bytes: readFileSync(path) }));
}

/** `family name in service.db-wal`, for each that stands where it may not. */
export function leaksIn(
  places: readonly Place[],
  planted: readonly Planted[],
  belongs: (planted: string, place: string) => boolean,
): string[] {
  return places.flatMap((place) =>
    planted
      .filter(({ needles }) => needles.some((needle) => place.bytes.includes(needle)))
      .filter(({ name }) => !belongs(name, place.name))
      .map(({ name }) => `${name} in ${place.name}`),
  );
}
