import type { Locator } from 'playwright-core';
import type { OneTarget, RecipePart, Step, Stop, Target, Values } from '../recipes/index.ts';
import { filled, shortened, Unreadable } from '../recipes/index.ts';
import type { Visit } from './visit.ts';

/** Ends a visit whose recipe does not fit the page: nothing is guessed. */
export class Misfit extends Error {
  override readonly name = 'Misfit';
  /**
   * @param step such as `search 3 (fill "From")`
   * @param saw what the page showed instead, without personal data
   * @param at the target that did not fit
   * @param isCovered true if the target is there but covered
   */
  constructor(
    readonly part: RecipePart,
    readonly step: string,
    readonly saw: string,
    readonly at?: Target | undefined,
    readonly isCovered = false,
  ) {
    super(`${step}: ${saw}`);
  }
}

/** Ends a visit for a reason that the recipe names. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  /** The work that was under way, with the recipe's step if it was one. */
  during: { readonly part: RecipePart; readonly name: string; readonly step?: Step } | null = null;
  /** @param words the page's own words */
  constructor(
    readonly reason: Stop | { readonly rejected: readonly string[] },
    readonly words = '',
  ) {
    super(typeof reason === 'string' ? reason : 'form_rejected');
  }
}

export class BrowserGone extends Error {
  override readonly name = 'BrowserGone';
}

/** A place in a visit, for steps and readings. */
export interface Walk {
  readonly visit: Visit;
  readonly part: RecipePart;
  readonly values: Values;
  /** The list item to look in; null for the whole page. */
  readonly item: Locator | null;
  /** Counted from 1, for reports. */
  readonly itemNumber?: number | undefined;
  readonly cleared: Map<number, number>;
  /** Clears a wall away. Null while a wall is being cleared. */
  readonly clear: ((walk: Walk, wall: number) => Promise<void>) | null;
}

const WITHIN_MS = 10_000;
const PAUSE_MS = 60;
/** Enough for a pop-up on every page of a purchase. */
const MOST_CLEARED = 15;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const seenText = (of: Locator, timeout: number): Promise<string> =>
  // biome-ignore lint/performance/useDomNodeTextContent: a hidden price is no price
  of.innerText({ timeout });

type Framed = Scope & Pick<Locator, 'frameLocator'>;
type Scope = Pick<Locator, 'getByRole' | 'getByLabel' | 'getByText' | 'getByPlaceholder' | 'locator'>;

/** Finds a target within another place. @param text fills values into the target's texts */
export function inScope(scope: Scope, target: OneTarget, text = (of: string): string => of): Locator {
  const exact = target.exact ?? false;
  if ('role' in target) {
    return scope.getByRole(target.role, target.name === undefined ? {} : { name: text(target.name), exact });
  }
  if ('label' in target) return scope.getByLabel(text(target.label), { exact });
  if ('text' in target) return scope.getByText(text(target.text), { exact });
  if ('placeholder' in target) return scope.getByPlaceholder(text(target.placeholder), { exact });
  if ('test_id' in target) return scope.locator(`[data-testid=${JSON.stringify(text(target.test_id))}]`);
  return scope.locator(text(target.css));
}

/** The frames that a target is in, the outermost first. A list's item is in its list's frame already. */
function framesOf({ site }: Visit['recipe'], item: Locator | null, target: Target): string[] {
  const { frame = item ? null : site.frame } = 'in' in target ? target.in : target;
  return [frame ?? []].flat();
}

/** Finds all that fits a target, visible or not. @throws Unreadable for a name without a value */
export function locate({ visit, item, values }: Walk, target: Target): Locator {
  const text = (of: string) => filled(of, values, visit.recipe.site);
  const outer = 'in' in target ? target.in : target;
  const frames = framesOf(visit.recipe, item, target);
  const scope = frames.reduce<Framed>((within, frame) => within.frameLocator(text(frame)), item ?? visit.page);
  const found = inScope(scope, outer, text);
  return 'in' in target ? inScope(found, target.find, text) : found;
}

export const shown = (walk: Walk, target: Target): Locator => locate(walk, target).filter({ visible: true });

/** Names a target in reports as the recipe writes it, without values. */
export function wordsOf(target: Target): string {
  if ('in' in target) return `${wordsOf(target.find)} in ${wordsOf(target.in)}`;
  if ('role' in target) return target.name === undefined ? target.role : `${target.role} "${target.name}"`;
  if ('label' in target) return `field "${target.label}"`;
  if ('text' in target) return `text "${target.text}"`;
  if ('placeholder' in target) return `field "${target.placeholder}"`;
  return 'test_id' in target ? `test id "${target.test_id}"` : target.css;
}

/** Names the page in reports, best by its heading. */
async function pageSeen(walk: Walk): Promise<string> {
  const { page } = walk.visit;
  const heading = shown({ ...walk, item: null }, { role: 'heading' }).first();
  const title = await seenText(heading, 200).catch(() => page.title().catch(() => ''));
  const path = new URL(page.url() === '' ? 'about:blank' : page.url()).pathname;
  return `on ${path}${title ? ` ("${shortened(title, 60)}")` : ''}`;
}

function stillThere({ visit }: Walk): void {
  if (visit.isGone()) throw new BrowserGone('the browser is gone');
  if (performance.now() > visit.endsAtMs) throw new BrowserGone('the visit took too long');
}

/** True for an error that passes: the page was just changing. */
const isMoving = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' ||
    /context was destroyed|frame was detached|not attached|navigat|Cannot find context/i.test(error.message));

interface Hindrance {
  readonly words: string;
  readonly isCover: boolean;
}

/** Reads in Playwright's log what kept it from an element; null if the log does not say. */
export function hindranceIn(error: unknown): Hindrance | null {
  const log = error instanceof Error ? error.message : '';
  const [, cover, off] = [...log.matchAll(HINDRANCE)].at(-1) ?? [];
  if (cover !== undefined) return { words: `covered by ${coverIn(cover)}`, isCover: true };
  if (off === undefined) return null;
  return { words: off === 'outside of the viewport' ? 'outside of the window' : 'disabled', isCover: false };
}

const HINDRANCE = /- (?:(<.*>.*) intercepts pointer events|element is (not enabled|inert|outside of the viewport))/g;

/** Names a cover: `<p>Wait</p> from <div role="dialog">…</div> subtree` is `dialog "Wait"`. */
function coverIn(preview: string): string {
  const parts = [...preview.matchAll(/<([a-z][\w-]*)([^>]*)>([^<]*)/gi)].map(([, tag = '', all = '', text = '']) => {
    const of = (name: string) => new RegExp(` ${name}="([^"]+)"`).exec(all)?.[1];
    return { role: of('role'), tag, label: of('aria-label'), text };
  });
  const labelled = parts.findLast(({ label }) => label !== undefined);
  const { tag = '' } = parts.at(-1) ?? {};
  const role = (labelled ?? parts.findLast((one) => one.role !== undefined))?.role ?? tag;
  const words = labelled?.label ?? parts.find(({ text }) => /[\p{L}\p{N}]/u.test(text))?.text;
  return words ? `${role} "${shortened(words, 60)}"` : shortened(preview.replace(/ value="[^"]*"/g, ''));
}

/**
 * Looks for all walls of a frame in one query, as every step begins with it. Playwright cannot join targets of several
 * frames.
 */
async function isAnySeen(walk: Walk, walls: Visit['recipe']['walls']): Promise<boolean> {
  const joined = new Map<string, Locator>();
  for (const { seen } of walls) {
    const frames = framesOf(walk.visit.recipe, null, seen).join('\n');
    joined.set(frames, joined.get(frames)?.or(locate(walk, seen)) ?? locate(walk, seen));
  }
  for (const any of joined.values()) if ((await any.filter({ visible: true }).count()) > 0) return true;
  return false;
}

/** Clears walls away. @returns the reason if one is left, else null @throws Stopped, Misfit */
async function throughWalls(walk: Walk): Promise<string | null> {
  const { visit, clear, cleared } = walk;
  if (!clear) return null;
  const onPage = { ...walk, item: null };
  if (!(await isAnySeen(onPage, visit.recipe.walls))) return null;
  let stuck: string | null = null;
  for (const [i, wall] of visit.recipe.walls.entries()) {
    if ((await shown(onPage, wall.seen).count()) === 0) continue;
    if ('stop' in wall) throw new Stopped(wall.stop, await saidAt(onPage, wall.seen));
    const times = (cleared.get(i) ?? 0) + 1;
    cleared.set(i, times);
    if (times > MOST_CLEARED) throw new Misfit(walk.part, `wall ${i + 1}`, `${wordsOf(wall.seen)} comes back`);
    try {
      await clear({ ...onPage, clear: null }, i);
      stuck = null;
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      // Another wall may cover it.
      stuck = error.message;
    }
  }
  return stuck;
}

const FORMS: ReadonlySet<string> = new Set(['passengers', 'extras', 'till']);

/** @throws Stopped if the site rejects the form */
async function throughForm(walk: Walk): Promise<void> {
  const { rejected } = walk.visit.recipe;
  if (!rejected || !walk.clear || !FORMS.has(walk.part)) return;
  const list = shown({ ...walk, item: null }, rejected.list);
  const count = await list.count();
  if (count === 0) return;
  const fields = new Set<string>();
  for (const one of await list.all()) {
    const { field } = rejected;
    const said = field.at ? shown({ ...walk, item: one }, field.at).first() : one;
    const text = field.attribute
      ? await said.getAttribute(field.attribute, { timeout: 500 })
      : await seenText(said, 500);
    const mapped = field.map?.[shortened(text ?? '')];
    // The page may repeat personal data: only the recipe's names are passed on.
    fields.add(typeof mapped === 'string' ? mapped : 'other');
  }
  throw new Stopped({ rejected: [...fields].sort() });
}

/** The found value, or a description of the page instead. */
interface Looked<T> {
  readonly found?: T;
  readonly saw?: string | undefined;
  readonly at?: Target | undefined;
  readonly isCovered?: boolean;
}

/** Repeats a look until it finds something or time is up; clears walls first. @throws Misfit, Stopped, BrowserGone */
export async function until<T>(walk: Walk, step: string, withinMs: number | undefined, look: () => Promise<Looked<T>>) {
  const endsAtMs = performance.now() + (withinMs ?? WITHIN_MS);
  let saw = 'nothing';
  let at: Target | undefined;
  let isCovered: boolean | undefined;
  for (;;) {
    stillThere(walk);
    const isLast = performance.now() > endsAtMs;
    try {
      const stuck = await throughWalls(walk);
      await throughForm(walk);
      const looked: Looked<T> = stuck === null ? await look() : { saw: stuck };
      if (looked.found !== undefined) return looked.found;
      saw = looked.saw ?? saw;
      ({ at, isCovered } = looked);
    } catch (error) {
      if (error instanceof Unreadable) saw = error.message;
      else if (!isMoving(error)) {
        stillThere(walk);
        if (error instanceof Stopped) error.during ??= { part: walk.part, name: step };
        throw error;
      } else {
        const hindrance = hindranceIn(error);
        saw = hindrance === null ? 'something that does not stand still' : `it is ${hindrance.words}`;
      }
    }
    if (isLast) {
      stillThere(walk);
      throw new Misfit(walk.part, step, `${saw}, ${await pageSeen(walk)}`, at, isCovered);
    }
    await pause(PAUSE_MS);
  }
}

export async function single(walk: Walk, target: Target): Promise<Looked<Locator>> {
  const found = shown(walk, target);
  const count = await found.count();
  return count === 1 ? { found } : { saw: `found ${count === 0 ? 'no' : count} ${wordsOf(target)}`, at: target };
}

/** The page's words at a target, for reports. */
export const saidAt = (walk: Walk, target: Target): Promise<string> =>
  seenText(shown(walk, target).first(), 500).then(
    (text) => shortened(text, 200),
    () => '',
  );

export const isSeen = async (walk: Walk, target: Target): Promise<boolean> => (await shown(walk, target).count()) > 0;
