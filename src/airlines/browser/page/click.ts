import type { Locator } from 'playwright-core';
import { installed, type Step, type Target } from '../recipes/index.ts';
import { Misfit } from './outcomes.ts';
import { isSeen, locate, shown, until, type Walk, wordsOf } from './walk.ts';

/** Clicks: once, on the one thing that is meant, and as far as that can be known, with what it is for. */

export const TRY_MS = 700;
export const CLICK_MS = 2_500;
/** In Playwright's log of its attempts, where it goes on to click. */
const BEGUN = 'performing click action';
/** The versions whose log was read for that. Of another one nobody knows what it leaves out: whatever ended late may have clicked. */
const READ = /^1\.65\./;
const isRead = (): boolean => READ.test(installed('playwright-core/package.json').version);

/**
 * Refuses to touch the button that pays once the page has a card: that is done by code, after it is on record.
 * @throws Misfit
 */
export async function checkPaysNot(walk: Walk, one: Locator, name: string): Promise<void> {
  const { posts, recipe } = walk.visit;
  if (!posts.isOn) return;
  const mine = await one.elementHandle({ timeout: TRY_MS });
  for (const button of await locate({ ...walk, item: null }, recipe.till.pay).elementHandles()) {
    if ((await button.ownerFrame()) !== (await mine?.ownerFrame())) continue;
    const isSame = await button.evaluate((pay, it) => pay.contains(it) || it?.contains(pay), mine);
    if (isSame) throw new Misfit(walk.part, name, 'that is the button that pays');
  }
}

/** The only one, once it can be acted on: enabled, still, and with nothing above it. */
export const ready = (walk: Walk, target: Target, name: string, withinMs?: number): Promise<Locator> =>
  until(walk, name, withinMs, async () => {
    const found = shown(walk, target);
    const count = await found.count();
    if (count !== 1) return { saw: `found ${count === 0 ? 'no' : count} ${wordsOf(target)}` };
    if (!(await found.isEnabled({ timeout: TRY_MS }))) return { saw: `${wordsOf(target)} is disabled` };
    return { found };
  });

/** The only one, once a click would reach it. */
export const free = (walk: Walk, target: Target, name: string): Promise<Locator> =>
  until(walk, name, undefined, async () => {
    const found = shown(walk, target);
    const count = await found.count();
    if (count !== 1) return { saw: `found ${count === 0 ? 'no' : count} ${wordsOf(target)}` };
    const isFree = await found.click({ trial: true, timeout: CLICK_MS }).then(
      () => true,
      () => false,
    );
    return isFree ? { found } : { saw: `${wordsOf(target)} is covered or disabled` };
  });

/**
 * Clicks once, as soon as it can be clicked. Something may come to lie above it between one look and the next: then
 * nothing was clicked, and walls are cleared away first.
 */
export async function click(
  walk: Walk,
  { at, leads_to: leadsTo, within_ms: withinMs }: Omit<Extract<Step, { do: 'click' }>, 'do'>,
  name: string,
): Promise<void> {
  const tryOnce = async () => {
    const one = shown(walk, at);
    const count = await one.count();
    if (count !== 1) return { saw: `found ${count === 0 ? 'no' : count} ${wordsOf(at)}` };
    await checkPaysNot(walk, one, name);
    return (await isClicked(one)) ? { found: true } : { saw: `${wordsOf(at)} is covered or disabled` };
  };
  await until(walk, name, withinMs, tryOnce);
  if (!leadsTo) return;
  let cleared = clearedIn(walk);
  await until(walk, name, withinMs, async () => {
    if (await isSeen(walk, leadsTo)) return { found: true };
    if (clearedIn(walk) > cleared && (await tryOnce()).found) cleared = clearedIn(walk);
    return { saw: `found no ${wordsOf(leadsTo)}` };
  });
}

/** How many walls were cleared away so far. */
const clearedIn = ({ cleared }: Walk): number => [...cleared.values()].reduce((sum, times) => sum + times, 0);

const isTimeout = (error: unknown): error is Error => error instanceof Error && error.name === 'TimeoutError';

/**
 * For a button that may never be clicked twice: false only where no click was so much as begun. Never throws.
 * @param tells what Playwright's log leaves out did not happen
 */
export const isPressed = (one: Pick<Locator, 'click'>, tells = isRead()): Promise<boolean> =>
  one.click({ timeout: CLICK_MS, noWaitAfter: true }).then(
    () => true,
    (error: unknown) => !isTimeout(error) || !tells || error.message.includes(BEGUN),
  );

/** True unless it is certain that nothing was clicked: a second click of the same thing could undo the first. */
export async function isClicked(one: Locator): Promise<boolean> {
  try {
    await one.click({ timeout: CLICK_MS, noWaitAfter: true });
    return true;
  } catch (error) {
    if (error instanceof Error && /strict mode violation/.test(error.message)) return false;
    if (!isTimeout(error)) throw error;
    // Playwright's log of its attempts: each may be given up before the click.
    const last = error.message.split('retrying click action').at(-1) ?? '';
    return !isRead() || last.includes(BEGUN);
  }
}
