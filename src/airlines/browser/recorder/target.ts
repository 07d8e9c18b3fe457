import type { Frame, Locator } from 'playwright-core';
import { inScope } from '../page/index.ts';
import type { OneTarget, Target } from '../recipes/index.ts';
import { FIELD_ROLES, frameSelector, readNames } from '../trial/index.ts';

const LOOK_MS = 1_000;
const MOST_AROUND = 8;
const AROUND =
  'fieldset,article,li,tr,form,section,dialog,[role=group],[role=region],[role=article],[role=listitem],[role=dialog],[role=row],[role=list],[role=radiogroup],ul,ol';
/** An amount with its currency, which may change any day. */
const AMOUNT = /\p{Sc}\s?\d[\d.,' ]*|\b[A-Z]{3}\s?\d[\d.,']*|\b\d[\d.,' ]*\s?(?:\p{Sc}|[A-Z]{3}\b)/u;

interface Named {
  readonly role: string;
  readonly name: string;
}

/** A page's report of an element, apart from its role and name. */
export interface Known {
  readonly mark: string;
  /** Its own words, or those close to it. */
  readonly words: string;
  readonly placeholder: string | null;
  readonly testId: string | null;
  readonly css: readonly string[];
}

/** The element's accessible role and name; null if it has none. */
async function namedAs(one: Locator): Promise<Named | null> {
  const [line = ''] = (await one.ariaSnapshot({ timeout: LOOK_MS }).catch(() => '')).split('\n');
  return readNames(line)[0] ?? null;
}

export interface Found {
  /** Null if nothing points at this element alone. */
  readonly target: Target | null;
  readonly role: string;
  readonly name: string;
  /** Named elements around it, the innermost first. */
  around(): Promise<readonly Named[]>;
}

/** Selectors of a frame and of the frames around it, the outermost first. */
async function framesOf(frame: Frame): Promise<string[]> {
  const outer = frame.parentFrame();
  return outer ? [...(await framesOf(outer)), await frameSelector(frame)] : [];
}

const count = (scope: Frame | Locator, target: OneTarget): Promise<number> =>
  inScope(scope, target).filter({ visible: true }).count();

/**
 * Finds a target that fits a marked element alone, by role and name, label or CSS, without words that `isOurs` knows.
 */
export async function targetOf(
  frame: Frame,
  known: Known,
  { isField, isOurs }: { readonly isField: boolean; isOurs(text: string): boolean },
): Promise<Found> {
  const one = frame.locator(`[data-farelock-mark="${known.mark}"]`);
  const named = await namedAs(one);
  // A field's text is what was typed.
  const shown = isField && named?.role === 'text' ? null : named;
  const [first, ...within] = await framesOf(frame);
  const frames = first === undefined ? {} : { frame: within.length === 0 ? first : [first, ...within] };
  let outers: Promise<Named[]> | undefined;
  const around = () => {
    outers ??= outersOf(frame.locator(AROUND, { has: one }));
    return outers;
  };
  const found = (target: Target | null): Found => ({
    target,
    role: named?.role ?? '',
    name: shown?.name ?? '',
    around,
  });
  const all = pointers(known, shown).filter((target) => {
    const words = Object.values(target).join(' ');
    return !/[{}]/.test(words) && !isOurs(words);
  });
  const byWords = all.filter((target) => !('css' in target));
  for (const target of byWords) if ((await count(frame, target)) === 1) return found({ ...target, ...frames });
  for (const each of byWords.length > 0 ? await around() : []) {
    const outer = { ...each, exact: true } as OneTarget;
    if (isOurs(each.name) || (await count(frame, outer)) !== 1) continue;
    const scope = inScope(frame, outer).filter({ visible: true });
    for (const find of byWords)
      if ((await count(scope, find)) === 1) return found({ in: { ...outer, ...frames }, find });
  }
  for (const target of all)
    if ('css' in target && (await count(frame, target)) === 1) return found({ ...target, ...frames });
  return found(null);
}

async function outersOf(all: Locator): Promise<Named[]> {
  const inner = (await all.all().catch(() => [])).reverse().slice(0, MOST_AROUND);
  return (await Promise.all(inner.map(namedAs))).flatMap((one) => (one && one.role !== 'text' ? [one] : []));
}

/** Finds a target that fits exactly the items of a list; null if none does. */
export async function listTarget(
  frame: Frame,
  { css, testId, count: wanted }: { readonly css: readonly string[]; readonly testId?: string; readonly count: number },
): Promise<OneTarget | null> {
  for (const one of [...(testId === undefined ? [] : [{ test_id: testId }]), ...css.map((css) => ({ css }))])
    if ((await count(frame, one)) === wanted) return one;
  return null;
}

/** Leaves amounts, which change, out of a name; null if nothing is left. */
export function lastingName(name: string): { readonly name: string; readonly exact?: true } | null {
  if (!AMOUNT.test(name)) return { name, exact: true };
  const parts = name.split(new RegExp(AMOUNT, 'gu')).map((one) => one.trim());
  const [longest = ''] = parts.sort((a, b) => b.length - a.length);
  return /\p{L}/u.test(longest) ? { name: longest } : null;
}

/** Ways to point at an element, in the order of docs/carriers.md. */
function pointers({ placeholder, testId, css }: Known, named: Named | null): OneTarget[] {
  const all: OneTarget[] = [];
  const lasting = named && lastingName(named.name);
  if (named && lasting) {
    const { name, ...exact } = lasting;
    if (FIELD_ROLES.has(named.role)) all.push({ label: name, ...exact });
    if (named.role === 'text') all.push({ text: name, ...exact });
    else all.push({ role: named.role, name, ...exact } as OneTarget);
  }
  if (placeholder) all.push({ placeholder, exact: true });
  if (testId) all.push({ test_id: testId });
  return [...all, ...css.map((one) => ({ css: one }))];
}
