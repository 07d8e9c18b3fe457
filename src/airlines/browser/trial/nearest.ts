import type { Frame } from 'playwright-core';
import { isPayButton, isSeen, locate, shown, type Walk, wordsOf } from '../page/index.ts';
import type { OneTarget, Target } from '../recipes/index.ts';
import { FIELD_ROLES, likeness, type Named, namesOn, readNames } from './names.ts';

/** A target that fits the page, in place of one that does not. */
export interface Near {
  readonly target: Target;
  readonly words: string;
  readonly likeness: number;
}

const LEAST = 0.25;
const MOST_NEAR = 5;

/** Runs in a page: lists attributes of visible elements that a target can name. */
const MARKS = `() => {
  const seen = new Set();
  for (const one of document.querySelectorAll('[id],[class],[data-testid],[placeholder]')) {
    if (!one.checkVisibility()) continue;
    if (one.id) seen.add('#' + CSS.escape(one.id));
    for (const name of one.classList) seen.add('.' + CSS.escape(name));
    for (const [attribute, kind] of [['data-testid', 'test_id '], ['placeholder', 'placeholder ']])
      if (one.getAttribute(attribute)) seen.add(kind + one.getAttribute(attribute));
  }
  return [...seen].slice(0, 2000);
}`;

const wordIn = (target: OneTarget): string => {
  if ('role' in target) return target.name ?? '';
  const { frame: _frame, exact: _exact, ...how } = target;
  return Object.values(how).join('');
};

/**
 * Finds the elements most like a target that fits nothing, or several.
 * @param before the page's names in an earlier visit; new ones are likelier
 */
export async function nearestTo(walk: Walk, target: Target, before: string | null = null): Promise<Near[]> {
  if ('in' in target) {
    const onPage = { ...walk, item: null };
    const hasOuter = (await shown(onPage, target.in).count()) === 1;
    const near = await nearestTo(walk, hasOuter ? target.find : target.in, before);
    return checked(
      walk,
      near.map((one) => {
        const found = one.target as OneTarget;
        return { ...one, target: hasOuter ? { in: target.in, find: found } : { in: found, find: target.find } };
      }),
    );
  }
  const [names, marks] = await Promise.all([namesOn(walk.visit), marksOn(walk.visit.page.frames())]);
  const known = new Set(before === null ? [] : readNames(before).map(({ role, name }) => `${role} ${name}`));
  const wanted = wordIn(target);
  const found = new Map<string, Near>();
  const add = (near: OneTarget, like: number, isNew: boolean) => {
    const whole = { ...near, ...(target.frame !== undefined && { frame: target.frame }) };
    const weight = like + (isNew && before !== null ? 0.2 : 0);
    const words = wordsOf(whole);
    if (like >= LEAST && weight > (found.get(words)?.likeness ?? 0))
      found.set(words, { target: whole, words, likeness: Math.min(1, weight) });
  };
  for (const one of readNames(names)) {
    const near = targetLike(target, one);
    if (near) add(near, likeness(wanted, one.name), !known.has(`${one.role} ${one.name}`));
  }
  for (const mark of marks) {
    const near = markLike(target, mark);
    if (near) add(near, likeness(wanted, wordIn(near)), false);
  }
  const all = [...found.values()].filter(({ words }) => words !== wordsOf(target));
  return checked(walk, all);
}

/** Keeps the nearest that fit one visible element, and not the pay button. */
async function checked(walk: Walk, all: readonly Near[]): Promise<Near[]> {
  const near: Near[] = [];
  const onPage = { ...walk, item: null };
  for (const one of [...all].sort((a, b) => b.likeness - a.likeness).slice(0, 3 * MOST_NEAR)) {
    const fits = locate(onPage, one.target).filter({ visible: true });
    const isThere = walk.item ? await isSeen(walk, one.target) : (await fits.count()) === 1;
    if (!isThere || near.some(({ words }) => words === one.words)) continue;
    if (!(await isPayButton(walk, fits.first()))) near.push(one);
  }
  return near.slice(0, MOST_NEAR);
}

function targetLike(target: OneTarget, { role, name }: Named): OneTarget | null {
  if ('role' in target) {
    const isSame = role === target.role || (FIELD_ROLES.has(role) && FIELD_ROLES.has(target.role));
    return isSame || (PRESSED.has(role) && PRESSED.has(target.role))
      ? ({ role, name, exact: true } as OneTarget)
      : null;
  }
  if ('label' in target) return FIELD_ROLES.has(role) ? { label: name, exact: true } : null;
  if ('text' in target) return FIELD_ROLES.has(role) ? null : { text: name };
  return null;
}

const PRESSED: ReadonlySet<string> = new Set(['button', 'link', 'tab', 'menuitem']);

function markLike(target: OneTarget, mark: string): OneTarget | null {
  const [, kind, text = ''] = /^(test_id|placeholder) (.*)$/s.exec(mark) ?? [];
  if (kind === 'test_id') return 'test_id' in target ? { test_id: text } : null;
  if (kind === 'placeholder') return 'placeholder' in target ? { placeholder: text, exact: true } : null;
  return 'css' in target ? { css: mark } : null;
}

const marksOn = async (frames: readonly Frame[]): Promise<string[]> =>
  (await Promise.all(frames.map((frame) => frame.evaluate<string[]>(`(${MARKS})()`).catch(() => [])))).flat();
