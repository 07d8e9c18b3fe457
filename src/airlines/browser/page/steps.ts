import type { Locator } from 'playwright-core';
import { alpha2Of } from '../../../kernel/domain/countries.ts';
import type { Passenger } from '../../../wire/flights/index.ts';
import { filled, installed, namesIn, type RecipePart, type Step, type Target, type Values } from '../recipes/index.ts';
import type { Visit } from './visit.ts';
import {
  hindranceIn,
  isSeen,
  locate,
  Misfit,
  pause,
  Stopped,
  seenText,
  shown,
  single,
  until,
  type Walk,
  wordsOf,
} from './walk.ts';

type Doing<D extends Step['do']> = Extract<Step, { do: D }>;

const TRY_MS = 700;
const CLICK_MS = 2_500;
const ACT_MS = 5_000;
/** Long for a busy page: the field was checked to be enabled before. */
const WRITE_MS = 20_000;

export function walkOf(visit: Visit, part: RecipePart, values: Values, cleared = new Map<number, number>()): Walk {
  const { phones, account } = visit;
  const known = {
    ...(account && { 'account.user': account.user, 'account.password': account.password }),
    ...phones?.phoneParts('contact', values['contact.phone_number']),
    ...values,
  };
  return { visit, part, values: known, item: null, cleared, clear: clearWall };
}

async function clearWall(walk: Walk, index: number): Promise<void> {
  const wall = walk.visit.recipe.walls[index];
  if (!wall || !('steps' in wall)) return;
  try {
    await runSteps(walk, wall.steps, [], `wall ${index + 1}`, 2_000);
  } catch (error) {
    // The wall may have gone by itself meanwhile.
    if (!(error instanceof Misfit) || (await isSeen(walk, wall.seen))) throw error;
  }
}

/**
 * Carries out steps. Each acts on the only visible target once it is enabled, or not at all.
 * @param passengers for a step `passengers` to repeat for
 * @throws Misfit, Stopped, BrowserGone
 */
export async function runSteps(
  walk: Walk,
  steps: readonly Step[] | undefined,
  passengers: readonly Passenger[] = [],
  place: string = walk.part,
  withinMs?: number,
): Promise<void> {
  for (const [i, step] of (steps ?? []).entries()) {
    const name = `${place} ${i + 1} (${step.name ?? `${step.do}${'at' in step ? ` ${wordsOf(step.at)}` : ''}`})`;
    await runStep(walk, { ...step, within_ms: step.within_ms ?? withinMs }, name, passengers).catch(
      (error: unknown) => {
        if (error instanceof Stopped) error.during = { part: walk.part, name, step, ...error.during };
        throw error;
      },
    );
    await walk.visit.watcher?.done(walk.part, name, step);
    const { pause_ms: pauseMs = 0 } = walk.visit.recipe.site;
    if (pauseMs > 0) await pause(pauseMs);
  }
}

async function runStep(walk: Walk, step: Step, name: string, passengers: readonly Passenger[]): Promise<void> {
  switch (step.do) {
    case 'open':
      return open(walk, step.path, name);
    case 'click':
      return click(walk, step, name);
    case 'fill':
    case 'type':
      return write(walk, step, name);
    case 'choose':
      return choose(walk, step, name);
    case 'pick':
      return pick(walk, step, name);
    case 'repeat':
      return repeat(walk, step, name, passengers);
    case 'tick':
    case 'untick':
      // Ticking twice changes nothing, so retries are fine.
      await until(walk, name, step.within_ms, async () => {
        const { found: box, ...looked } = await single(walk, step.at);
        if (!box) return looked;
        await checkPaysNot(walk, box, name);
        await box.setChecked(step.do === 'tick', { timeout: CLICK_MS });
        return { found: true };
      });
      return;
    case 'untick_all':
      return untickAll(walk, step.at, name, step.within_ms);
    case 'expect':
      return expectText(walk, step, name);
    case 'gone':
      await until(walk, name, step.within_ms, async () =>
        (await isSeen(walk, step.at)) ? { saw: `${wordsOf(step.at)} is still there`, at: step.at } : { found: true },
      );
      return;
    case 'stop':
      throw new Stopped(step.with, step.name);
    case 'when':
      return when(walk, step, name, passengers);
    case 'passengers':
      for (const [i, passenger] of passengers.entries()) {
        const phone = walk.visit.phones?.phoneParts('passenger', passenger.phone_number);
        const values = { ...walk.values, ...phone, ...passengerValues(passenger, i) };
        await runSteps({ ...walk, values }, step.steps, passengers, `${name} passenger ${i + 1}`);
      }
      return;
  }
}

export function passengerValues(passenger: Passenger, index: number): Values {
  const fields = Object.entries(passenger).map(([field, value]) => [`passenger.${field}`, value ?? undefined]);
  return {
    ...Object.fromEntries(fields),
    // Travellers may give alpha-2 or alpha-3 codes; recipes use alpha-2.
    'passenger.nationality': alpha2Of(passenger.nationality?.toUpperCase() ?? '') ?? undefined,
    'passenger.number': String(index + 1),
    'passenger.index': String(index),
  };
}

async function open(walk: Walk, path: string, name: string): Promise<void> {
  const { page, recipe } = walk.visit;
  const address = new URL(filled(path, walk.values, recipe.site), recipe.site.base);
  if (address.origin !== new URL(recipe.site.base).origin) {
    throw new Misfit(walk.part, name, 'that is an address of another site');
  }
  try {
    const answer = await page.goto(address.href, { waitUntil: 'domcontentloaded', timeout: 30_000 });
    const status = answer?.status() ?? 200;
    if (status >= 500 || status === 429) throw new Misfit(walk.part, name, `the site answered ${status}`);
  } catch (error) {
    if (error instanceof Misfit || !(error instanceof Error)) throw error;
    const saw = /net::(\w+)/.exec(error.message)?.[1] ?? 'the page did not load';
    await until(walk, name, 0, async () => ({ saw }));
  }
}

const ready = (walk: Walk, target: Target, name: string, withinMs?: number): Promise<Locator> =>
  until(walk, name, withinMs, async () => {
    const looked = await single(walk, target);
    const isOff = looked.found && !(await looked.found.isEnabled({ timeout: TRY_MS }));
    return isOff ? { saw: `${wordsOf(target)} is disabled`, at: target } : looked;
  });

/** Values that identify no one. */
const PLAIN = /\.(?:number|index|title|gender|nationality|phone_country)$/;
const isPersonal = (name: string): boolean =>
  name === 'card.number' || (/^(passenger|contact|card|account|challenge)\./.test(name) && !PLAIN.test(name));

async function write(walk: Walk, { do: how, at, value, within_ms }: Doing<'fill'> | Doing<'type'>, name: string) {
  const text = filled(value, walk.values, walk.visit.recipe.site);
  if (namesIn(value).some(isPersonal)) walk.visit.personal.add(text);
  const field = await ready(walk, at, name, within_ms);
  // Sites group digits as they are typed.
  const bare = (of: string) => of.replace(/[\s./-]/g, '').toLowerCase();
  // Written only once: a form may submit itself at the last digit.
  const written = async () => {
    await field.fill(how === 'fill' ? text : '', { timeout: WRITE_MS });
    if (how === 'type') await field.pressSequentially(text, { timeout: WRITE_MS });
    const isThere = bare(await field.inputValue({ timeout: WRITE_MS })) === bare(text);
    return isThere ? null : 'the field holds something else than was written';
  };
  const lacking = await written().catch((error: unknown) => {
    // Playwright's own error would quote the text, which may be private.
    if (isTimeout(error)) return `the field took no words within ${WRITE_MS / 1_000} s`;
    throw error;
  });
  if (lacking !== null) throw new Misfit(walk.part, name, lacking, at);
}

/** Translates our value into the page's. */
function mapped(walk: Walk, map: Readonly<Record<string, string>> | undefined, text: string | undefined) {
  if (text === undefined) return undefined;
  const ours = filled(text, walk.values, walk.visit.recipe.site);
  const value = map ? map[ours] : ours;
  if (value !== undefined && namesIn(text).some(isPersonal)) walk.visit.personal.add(value);
  return value;
}

const unmapped = (walk: Walk, name: string) => new Misfit(walk.part, name, 'the recipe has no option for this value');

async function choose(walk: Walk, step: Doing<'choose'>, name: string): Promise<void> {
  const [value, label] = [mapped(walk, step.map, step.value), mapped(walk, step.map, step.label)];
  if (value === undefined && label === undefined) throw unmapped(walk, name);
  const field = await ready(walk, step.at, name, step.within_ms);
  const option = value === undefined ? { label: label ?? '' } : { value };
  await until(walk, name, step.within_ms, async () => {
    const taken = await field.selectOption(option, { timeout: TRY_MS });
    return taken.length === 1 ? { found: true } : { saw: 'no such option', at: step.at };
  });
}

async function pick(walk: Walk, { value, map, open, ...step }: Doing<'pick'>, name: string): Promise<void> {
  const picked = mapped(walk, map, value);
  if (picked === undefined) throw unmapped(walk, name);
  const within = { ...walk, values: { ...walk.values, picked } };
  if (open && !(await isSeen(within, step.at))) await click(walk, { ...step, at: open, leads_to: undefined }, name);
  await click(within, step, name);
}

/** Repeats steps; ends at once if there is nothing to repeat. @throws Misfit if the end is not reached */
async function repeat(walk: Walk, step: Doing<'repeat'>, name: string, passengers: readonly Passenger[]) {
  const { until: wanted, while: left, most, steps, within_ms: withinMs = 500 } = step;
  for (let times = 0; ; times++) {
    if (wanted ? await comes(walk, wanted, times === 0 ? 0 : withinMs, name) : !left) return;
    if (left && !(await comes(walk, left, withinMs, name, true))) return;
    if (times >= most) throw new Misfit(walk.part, name, `no end after ${most} times`, wanted ?? left);
    await runSteps(walk, steps, passengers, `${name} time ${times + 1}`);
  }
}

export async function untickAll(walk: Walk, target: Target, name: string, withinMs?: number): Promise<void> {
  await until(walk, name, withinMs, async () => {
    const boxes = await locate(walk, target).all();
    let left = 0;
    for (const box of boxes) {
      if (!(await box.isChecked({ timeout: TRY_MS }))) continue;
      left += 1;
      if (await box.isVisible()) await box.uncheck({ timeout: TRY_MS });
    }
    return left === 0 ? { found: true } : { saw: `${left} of ${wordsOf(target)} ticked` };
  });
}

async function expectText(walk: Walk, { at, text, within_ms }: Doing<'expect'>, name: string): Promise<void> {
  const wanted = text === undefined ? null : filled(text, walk.values, walk.visit.recipe.site).toLowerCase();
  await until(walk, name, within_ms, async () => {
    const looked = await single(walk, at);
    if (wanted === null) return looked;
    if (!looked.found) return looked;
    const shownText = (await seenText(looked.found, TRY_MS)).replace(/\s+/g, ' ').toLowerCase();
    return shownText.includes(wanted) ? looked : { saw: 'another text', at };
  });
}

/** True if a target is seen in time. @param isFree waits until it is enabled, too: loading may disable a button */
const comes = (walk: Walk, target: Target, withinMs: number, name: string, isFree = false): Promise<boolean> =>
  until(walk, name, withinMs + ACT_MS, async () => {
    const endsAtMs = performance.now() + withinMs;
    for (;;) {
      const isThere = await isSeen(walk, target);
      if (isThere && (!isFree || (await shown(walk, target).first().isEnabled({ timeout: TRY_MS }))))
        return { found: true };
      if (performance.now() >= endsAtMs) return isThere ? { saw: `${wordsOf(target)} is disabled` } : { found: false };
      await pause(50);
    }
  });

async function when(
  walk: Walk,
  { seen, within_ms: withinMs = 0, steps, otherwise }: Doing<'when'>,
  name: string,
  passengers: readonly Passenger[],
): Promise<void> {
  const isThere = await comes(walk, seen, withinMs, name);
  await runSteps(walk, isThere ? steps : otherwise, passengers, name);
}

/** Playwright's log line before a click. */
const BEGUN = 'performing click action';
/** Playwright's versions known to log it; with others, a click that timed out may have happened. */
const READ = /^1\.65\./;
const isRead = (): boolean => READ.test(installed('playwright-core/package.json').version);

/** Refuses to touch the pay button of a page with a card: its press has to be recorded first. @throws Misfit */
async function checkPaysNot(walk: Walk, one: Locator, name: string): Promise<void> {
  const { posts, watcher } = walk.visit;
  if (!posts.isOn && !(watcher && walk.part === 'till')) return;
  if (await isPayButton(walk, one)) throw new Misfit(walk.part, name, 'that is the button that pays');
}

/** True for the pay button, and for what is within it or around it. */
export async function isPayButton(walk: Walk, one: Locator): Promise<boolean> {
  const mine = await one.elementHandle({ timeout: TRY_MS });
  for (const button of await locate({ ...walk, item: null }, walk.visit.recipe.till.pay).elementHandles()) {
    if ((await button.ownerFrame()) !== (await mine?.ownerFrame())) continue;
    if (await button.evaluate((pay, it) => pay.contains(it) || it?.contains(pay), mine)) return true;
  }
  return false;
}

/** Waits until a click would go through, without clicking. */
export const free = (walk: Walk, target: Target, name: string, withinMs?: number): Promise<Locator> =>
  until(walk, name, withinMs, async () => {
    const looked = await single(walk, target);
    const hindrance = await looked.found?.click({ trial: true, timeout: CLICK_MS }).then(() => null, hindered);
    if (!hindrance) return looked;
    return { saw: `${wordsOf(target)} is ${hindrance.words}`, isCovered: hindrance.isCover };
  });

/** Clicks once, past walls; again only if certainly nothing was clicked, or a wall may have swallowed the click. */
export async function click(
  walk: Walk,
  { at, leads_to: leadsTo, within_ms: withinMs }: Omit<Doing<'click'>, 'do'>,
  name: string,
): Promise<void> {
  const tryOnce = async () => {
    const looked = await single(walk, at);
    const { found: one } = looked;
    if (!one) return { saw: looked.saw, at };
    await checkPaysNot(walk, one, name);
    const hindrance = await clickOnce(one);
    return hindrance === null ? { found: true } : { saw: `${wordsOf(at)} is ${hindrance}` };
  };
  await until(walk, name, withinMs, tryOnce);
  if (!leadsTo) return;
  let cleared = clearedIn(walk);
  await until(walk, name, withinMs, async () => {
    if (await isSeen(walk, leadsTo)) return { found: true };
    if (clearedIn(walk) > cleared && (await tryOnce()).found) cleared = clearedIn(walk);
    return { saw: `found no ${wordsOf(leadsTo)}`, at: leadsTo };
  });
}

const clearedIn = ({ cleared }: Walk): number => [...cleared.values()].reduce((sum, times) => sum + times, 0);

const isTimeout = (error: unknown): error is Error => error instanceof Error && error.name === 'TimeoutError';

/**
 * Clicks a button that must not be clicked twice. Returns false only if certainly no click has begun. Never throws.
 * @param tells true if Playwright's log says whether a click has begun
 */
export const isPressed = (one: Pick<Locator, 'click'>, tells = isRead()): Promise<boolean> =>
  one.click({ timeout: CLICK_MS, noWaitAfter: true }).then(
    () => true,
    (error: unknown) => !isTimeout(error) || !tells || error.message.includes(BEGUN),
  );

const hindered = (error: unknown) => hindranceIn(error) ?? { words: 'covered or disabled', isCover: false };

/** Clicks. @returns the reason if certainly nothing was clicked; else null, as a second click could undo the first */
export async function clickOnce(one: Locator): Promise<string | null> {
  try {
    await one.click({ timeout: CLICK_MS, noWaitAfter: true });
    return null;
  } catch (error) {
    if (error instanceof Error && /strict mode violation/.test(error.message)) return 'there several times';
    if (!isTimeout(error)) throw error;
    const last = error.message.split('retrying click action').at(-1) ?? '';
    return !isRead() || last.includes(BEGUN) ? null : hindered(error).words;
  }
}
