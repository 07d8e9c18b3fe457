import type { Issue } from '../http/body.ts';
import { STORABLE } from '../kernel/texts.ts';

/**
 * ProtoJSON's forms made one (CONTRACT, section 10): names in camelCase or snake_case, `null` as unset. A field that is
 * given under both names is refused, and so is text that no database of ours can keep.
 */
interface Normalised {
  readonly value: unknown;
  readonly issues: readonly Issue[];
  /** The path of an issue in the words of who sent it: `deposit_instructions.bank_name`. */
  asSent(path: readonly PropertyKey[]): string;
}

/** Deeper than any message of ours; what is deeper only wants to exhaust the stack. */
const DEEPEST = 24;

export function normaliseProtoJson(given: unknown): Normalised {
  const issues: Issue[] = [];
  const names = new Map<string, string>();

  function walk(value: unknown, path: readonly string[], sent: readonly string[]): unknown {
    if (typeof value === 'string') {
      if (isUnstorable(value))
        issues.push({ path: sent.join('.'), message: 'has characters that are not valid text.' });
      return value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (path.length >= DEEPEST) {
      issues.push({ path: sent.slice(0, 3).join('.'), message: 'is nested too deeply.' });
      return null;
    }
    if (Array.isArray(value))
      return value.map((item, index) => walk(item, [...path, String(index)], [...sent, String(index)]));
    const fields = new Map<string, unknown>();
    const taken = new Map<string, string>();
    for (const [name, inner] of Object.entries(value)) {
      const camel = camelCase(name);
      const before = taken.get(camel);
      const here = [...path, camel];
      if (before !== undefined) {
        const path = [...sent, camel].join('.');
        issues.push({ path, message: `is given twice, as ${before} and as ${name}: give only one of them.` });
        continue;
      }
      taken.set(camel, name);
      if (isUnstorable(name)) {
        issues.push({ path: sent.join('.'), message: 'has a field whose name is not valid text.' });
        continue;
      }
      if (camel !== name || path.some((part, at) => part !== sent[at]))
        names.set(here.join('\0'), [...sent, name].join('.'));
      // An unset field is one that was not sent; an unknown one is still to be named.
      fields.set(camel, inner === null ? undefined : walk(inner, here, [...sent, name]));
    }
    // Made from entries, so that a field named __proto__ is a field like any other.
    return Object.fromEntries(fields);
  }

  return {
    value: walk(given, [], []),
    issues,
    asSent: (path) => names.get(path.map(String).join('\0')) ?? path.map(String).join('.'),
  };
}

/** protobuf's own rule for a field's JSON name; what is no snake_case name stays as it is. */
const camelCase = (name: string): string =>
  /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(name)
    ? name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
    : name;

const isUnstorable = (text: string): boolean => !STORABLE.test(text);
