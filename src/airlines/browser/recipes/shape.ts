import * as z from 'zod';
import { nearest } from '../../../kernel/nearest.ts';

/** A mistake of a recipe: its place, such as `search.steps[1].at`, and the word that was probably meant. */
export interface Mistake {
  readonly path: string;
  readonly code: MistakeCode;
  readonly message: string;
  readonly nearest: string | null;
}

export type MistakeCode =
  | 'unreadable'
  | 'json'
  | 'key_unknown'
  | 'key_missing'
  | 'value_wrong'
  | 'word_unknown'
  | 'place_unknown'
  | 'place_absent'
  | 'cannot_work'
  | 'pays'
  /** Sells, but only one direction. */
  | 'one_way'
  | 'fill_in';

export type Path = readonly (string | number)[];

export const pathText = (path: Path): string =>
  path
    .map((key, i) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^\w+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return i === 0 ? key : `.${key}`;
    })
    .join('');

export const mistake = (
  path: Path,
  code: MistakeCode,
  message: string,
  near: string | null | undefined = null,
): Mistake => ({ path: pathText(path), code, message, nearest: near ?? null });

export type Fields = Readonly<Record<string, unknown>>;
export const isFields = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Begins each text of a new recipe that its writer has to replace. */
export const FILL_IN = 'FILL IN: ';

/** Words of other tools, and ours for them. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ selector: 'css', testid: 'test_id', regex: 'pattern', target: 'at', url: 'path', timeout: 'within_ms' },
  ...{ goto: 'open', select: 'choose', check: 'tick', uncheck: 'untick', wait: 'expect', wait_for: 'expect' },
  ...{ press: 'click', if: 'when', loop: 'repeat', else: 'otherwise' },
};

const meant = (given: unknown, names: readonly string[]): string | null => {
  const word = String(given);
  const other = MEANT[word.toLowerCase()];
  return other !== undefined && names.includes(other) ? other : (nearest(word, names, 1)[0] ?? null);
};

const shown = (value: unknown): string => {
  const letters = [...(JSON.stringify(value) ?? 'nothing')];
  return letters.length > 60 ? `${letters.slice(0, 60).join('')}…` : letters.join('');
};

type Node = z.core.$ZodType;
const defOf = (schema: Node) => (schema as z.core.$ZodTypes)._zod.def;

const isUnwritten = (value: unknown): value is string => typeof value === 'string' && value.startsWith(FILL_IN);

/** Finds every mistake against a schema, each in the alternative that the writer most probably meant. */
export function shapeMistakes(schema: Node, value: unknown, path: Path): Mistake[] {
  if (isUnwritten(value)) return [mistake(path, 'fill_in', `has to be filled in: ${value.slice(FILL_IN.length)}`)];
  const def = defOf(schema);
  switch (def.type) {
    case 'optional':
      return value === undefined ? [] : shapeMistakes(def.innerType, value, path);
    case 'lazy':
      return shapeMistakes(def.getter(), value, path);
    case 'union':
      return unionMistakes(schema, value, path);
    case 'object':
      return isFields(value) ? fieldMistakes(def.shape, value, path) : ownMistakes(schema, value, path);
    case 'array':
      return [
        ...ownMistakes(
          z.array(z.unknown()).check(...((def.checks ?? []) as z.core.$ZodCheck<unknown[]>[])),
          value,
          path,
        ),
        ...(Array.isArray(value) ? value : []).flatMap((one, i) => shapeMistakes(def.element, one, [...path, i])),
      ];
    case 'record':
      if (!isFields(value)) return ownMistakes(schema, value, path);
      return Object.entries(value).flatMap(([key, one]) => [
        ...ownMistakes(def.keyType, key, [...path, key]),
        ...shapeMistakes(def.valueType, one, [...path, key]),
      ]);
    default:
      return ownMistakes(schema, value, path);
  }
}

function fieldMistakes(shape: Readonly<Record<string, Node>>, value: Fields, path: Path): Mistake[] {
  const names = Object.keys(shape);
  const left = names.filter((name) => !(name in value));
  const unknown = Object.keys(value)
    .filter((key) => !names.includes(key))
    .map((key) => ({ key, near: meant(key, left) ?? meant(key, names) }));
  const replaced = new Set(unknown.map(({ near }) => near));
  return [
    ...unknown.map(({ key, near }) => {
      const instead = key === 'map' && 'format' in shape ? ': dates take a "format"' : '';
      return mistake([...path, key], 'key_unknown', `there is no "${key}" here${instead}`, near);
    }),
    ...left
      .filter((name) => defOf(shape[name] as Node).type !== 'optional' && !replaced.has(name))
      .map((name) => mistake([...path, name], 'key_missing', 'is missing')),
    ...names.flatMap((name) => (name in value ? shapeMistakes(shape[name] as Node, value[name], [...path, name]) : [])),
  ];
}

const literalsOf = (schema: Node | undefined): readonly unknown[] => {
  const def = schema && defOf(schema);
  return def?.type === 'literal' ? def.values : [];
};

/** The fields of an alternative; none if it is not an object. */
const shapeOf = (schema: Node): Readonly<Record<string, Node>> => {
  const def = defOf(schema);
  return def.type === 'object' ? def.shape : {};
};

function unionMistakes(schema: Node, value: unknown, path: Path): Mistake[] {
  const def = defOf(schema);
  if (def.type !== 'union') return [];
  const { options } = def;
  if ('discriminator' in def && isFields(value)) {
    const { discriminator: key } = def as z.core.$ZodDiscriminatedUnionDef<z.core.$ZodType[]>;
    const words = (one: Node) => literalsOf(shapeOf(one)[key]);
    const found = options.find((one) => words(one).includes(value[key]));
    if (found) return shapeMistakes(found, value, path);
    if (isUnwritten(value[key])) return shapeMistakes(z.string(), value[key], [...path, key]);
    if (value[key] === undefined) return [mistake([...path, key], 'key_missing', 'is missing')];
    return [unknownWord([...path, key], value[key], options.flatMap(words).map(String))];
  }
  const tried = options.map((one) => shapeMistakes(one, value, path));
  const here = pathText(path);
  const isOwn = (rest: string) => /^(?:\.?\w+|\[[^\]]*\])?$/.test(rest);
  // The keys show which alternative was meant, so mistakes within values weigh little.
  const weight = (found: readonly Mistake[]) =>
    found.reduce((sum, one) => sum + (one.code.startsWith('key_') && isOwn(one.path.slice(here.length)) ? 100 : 1), 0);
  const least = Math.min(...tried.map(weight));
  const best = tried.filter((one) => weight(one) === least);
  const [first = []] = best;
  const firsts = best.flatMap(([one]) => one ?? []);
  if (best.length === 1 || best.some((one) => one.length !== 1)) return first;
  // Names alternatives together if they differ only by their missing key, or by the kind of value.
  if (firsts.every(({ code }) => code === 'key_missing')) {
    const keys = firsts.flatMap((one) => one.path.slice(here.length).replace(/^\./, '').split(' or '));
    return [mistake(path, 'key_missing', `needs one of ${[...new Set(keys)].join(', ')}`)];
  }
  if (firsts.every((one) => one.code === 'value_wrong' && one.path === here && /^has to be /.test(one.message))) {
    const kinds = firsts.map(({ message }) => message.replace(/^has to be /, ''));
    return [mistake(path, 'value_wrong', `has to be ${[...new Set(kinds)].join(' or ')}`)];
  }
  return first;
}

/** Lists all known words only if none of them is near. */
function unknownWord(path: Path, value: unknown, words: readonly string[]): Mistake {
  const near = meant(value, words);
  const said = near === null ? `none of ${words.join(', ')}` : 'no word that is known here';
  return mistake(path, 'word_unknown', `${shown(value)} is ${said}`, near);
}

const KINDS: Readonly<Record<string, string>> = {
  ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false', null: 'null' },
  ...{ array: 'a list', object: 'an object', record: 'an object' },
};

/** Mistakes of a value itself, not of its parts. */
function ownMistakes(schema: Node, value: unknown, path: Path): Mistake[] {
  const issues = z.safeParse(schema, value).error?.issues.filter((one) => one.path.length === 0) ?? [];
  return issues.map((issue) => {
    switch (issue.code) {
      case 'invalid_type':
        return mistake(path, 'value_wrong', `has to be ${KINDS[issue.expected] ?? issue.expected}`);
      case 'invalid_value':
        return unknownWord(path, value, issue.values.map(String));
      case 'too_small':
      case 'too_big': {
        const [bound, limit] = issue.code === 'too_small' ? ['at least', issue.minimum] : ['at most', issue.maximum];
        const unit = { string: ' letters', array: ' entries' }[issue.origin as string] ?? '';
        return mistake(path, 'value_wrong', `has to ${unit ? 'have' : 'be'} ${bound} ${limit}${unit}`);
      }
      case 'custom': {
        const { code = 'value_wrong', near = null } = (issue.params ?? {}) as { code?: MistakeCode; near?: string };
        return mistake(path, code, issue.message.replace(/\.$/, ''), near);
      }
      default:
        return mistake(path, 'value_wrong', `${shown(value)}: ${issue.message.replace(/\.$/, '')}`);
    }
  });
}
