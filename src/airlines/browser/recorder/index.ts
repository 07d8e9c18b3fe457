import type { Frame, Page } from 'playwright-core';
import type { RoundTrip } from '../../provider.ts';
import { launch, needBrowser } from '../page/index.ts';
import { installed, type OneTarget, type Step, type Target } from '../recipes/index.ts';
import { mayPay } from '../trial/index.ts';
import { draftOf, RECORDED_PAGES, type Recorded, type RecordedPage } from './draft.ts';
import { LISTEN } from './listen.ts';
import { type Found, targetOf } from './target.ts';
import { isCardNumber, placeholderOf, RECORDED_CARD, recordedValues } from './words.ts';

export { RECORDED_CARD, RECORDED_PAGES, type RecordedPage };

/** A report of a page about what the person did there. */
type Report = { readonly mark: string } & (
  | { readonly kind: 'click' }
  | { readonly kind: 'tick' }
  | { readonly kind: 'untick' }
  | { readonly kind: 'choose'; readonly value: string; readonly label: string; readonly isCard: boolean }
  | { readonly kind: 'fill'; readonly value: string; readonly isCard: boolean }
);

const isOfCard = (report: Report): boolean =>
  'value' in report && (report.isCard || isCardNumber('label' in report ? report.label : report.value));

export type Recording = Awaited<ReturnType<typeof openRecording>>;

/**
 * Opens a site in which a person walks once. Nothing is paid: what looks like a pay button is held, and once a card was
 * typed nothing leaves the page.
 * @throws Problem `browser_missing`
 */
export async function openRecording(options: {
  readonly chromium: string | null | undefined;
  readonly url: string;
  readonly query: RoundTrip;
  readonly isHeaded: boolean;
}) {
  const chromium = needBrowser(options.chromium, ['playwright-core']);
  const playwright = installed('playwright-core').chromium;
  const { browser, close } = await launch(playwright, chromium, null, { isHeaded: options.isHeaded });
  const context = await browser.newContext({ acceptDownloads: false, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const book = createBook(page, options);
  let last = Promise.resolve();
  await context.exposeBinding('farelockSaw', ({ frame }, report: Report) => {
    last = last.then(() => book.hear(frame, report)).catch(() => book.miss(report, 'it failed'));
    return last;
  });
  await context.addInitScript({ content: LISTEN });
  await context.route(
    () => book.hasCard(),
    (route) =>
      (/^(GET|HEAD|OPTIONS)$/.test(route.request().method()) ? route.continue() : route.abort('aborted')).catch(
        () => undefined,
      ),
  );
  context.on('page', (other) => void (other !== page && other.close().catch(() => undefined)));
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
  await page.goto(options.url, { waitUntil: 'domcontentloaded', timeout: 30_000 });
  return {
    page,
    /** The words that the person types. */
    typed: recordedValues(options.query),
    begins: (name: RecordedPage) => book.begins(name),
    /** Resolves once all that the person did is written down. */
    settled: () => last,
    lines: book.lines,
    draft: book.draft,
    close,
  };
}

function createBook(page: Page, { url, query }: { readonly url: string; readonly query: RoundTrip }) {
  const values = recordedValues(query);
  const { pathname, search, host: home } = new URL(url);
  const open: Step = { do: 'open', path: `${pathname}${search}`.replace(/[{}]/g, '') };
  const steps: Recorded[] = [{ page: 'search', step: open }];
  const walls: { seen: Target; step: Step }[] = [];
  const card: Recorded['step'][] = [];
  const lines: string[] = [];
  const hosts = new Set<string>();
  let now: RecordedPage = 'search';
  let pay: Target | null = null;
  let hasCard = false;

  /** Leaves a comment where a step could not be written down. */
  function miss(report: Report, why: string): void {
    const step: Recorded['step'] = {
      '//': `A ${report.kind} was not written down: ${why}.`,
      do: `FILL IN: the step of a ${report.kind}`,
    };
    if (isOfCard(report)) card.push(step);
    else steps.push({ page: now, step });
    lines.push(`${step['//']} Write its step by hand.`);
  }

  async function hear(frame: Frame, report: Report): Promise<void> {
    hasCard ||= isOfCard(report);
    const { host } = new URL(frame.url() || 'about:blank');
    if (host !== '' && host !== home) hosts.add(host);
    const { name, found } = await targetOf(frame, report.mark);
    if (!found) {
      miss(report, 'nothing points at it alone');
      if (report.kind === 'click' && !hasCard && !mayPay(name)) await pass(page, frame, report.mark);
      return;
    }
    const { target, around } = found;
    if (report.kind === 'click') return press(frame, report.mark, { ...found, name });
    if (report.kind === 'tick' || report.kind === 'untick') {
      const item = report.kind === 'tick' ? itemOf(target, around) : undefined;
      return note({ do: report.kind, at: target }, item);
    }
    const isChoice = report.kind === 'choose';
    const typed = isChoice ? report.label : report.value;
    if (isOfCard(report)) {
      const value = placeholderOf(typed, values, true) ?? '{card.number}';
      card.push(isChoice ? { do: 'choose', at: target, label: value } : { do: 'fill', at: target, value });
      lines.push(`till.card: ${value}`);
    } else if (isChoice) note(chosen(target, report, values));
    else note({ do: 'fill', at: target, value: textOf(typed, values) });
  }

  function note(step: Step, list?: Recorded['list']): void {
    write(steps, { page: now, step, list });
    lines.push(`${now}: ${JSON.stringify(step)}`);
  }

  function itemOf(target: Target, around: readonly string[]): Recorded['list'] {
    const isTaken = steps.some((one) => one.page === now && one.list);
    return (now !== 'flights' && now !== 'fares') || isTaken ? undefined : listOf(target, around);
  }

  async function press(frame: Frame, mark: string, { target, role, around, name }: Found & { name: string }) {
    if (hasCard || (mayPay(name) && role !== 'radio')) {
      pay = target;
      lines.push(`till.pay: ${name}, which was held and not pressed`);
      return;
    }
    const dialog = around.find((words) => words.startsWith('dialog '));
    const before = await headingOf(page);
    await pass(page, frame, mark);
    if (dialog !== undefined) {
      const seen = { role: 'dialog' as const, name: dialog.slice('dialog '.length), exact: true };
      walls.push({ seen, step: { do: 'click', at: target } });
      lines.push(`walls: ${seen.name}`);
      return;
    }
    const list = itemOf(target, around);
    await page.waitForLoadState('domcontentloaded').catch(() => undefined);
    const after = list ? null : ((await headingOf(page)) ?? '').trim();
    const isLed = after && after !== (before ?? '').trim() && !/[\d{}]/.test(after);
    note({ do: 'click', at: target, ...(isLed && { leads_to: { role: 'heading' as const, name: after } }) }, list);
  }

  return {
    ...{ hear, miss },
    lines,
    hasCard: () => hasCard,
    begins(name: RecordedPage) {
      now = name;
      lines.push(`now: ${name}`);
    },
    draft: (begun: Record<string, unknown>) => draftOf(begun, { steps, walls, card, pay, hosts: [...hosts] }),
  };
}

/** A later change of one field takes the place of the one before. */
function write(all: Recorded[], one: Recorded): void {
  const at = (step: Recorded['step']) => JSON.stringify('at' in step ? step.at : step);
  const before = all.findIndex(
    (other) => other.page === one.page && other.step.do !== 'click' && at(other.step) === at(one.step),
  );
  if (one.step.do !== 'click' && before >= 0) all.splice(before, 1);
  all.push(one);
}

type Values = ReturnType<typeof recordedValues>;

const textOf = (typed: string, values: Values): string =>
  placeholderOf(typed, values) ?? typed.replace(/[{}\p{Cc}]/gu, '');

function chosen(
  at: Target,
  { value, label }: { readonly value: string; readonly label: string },
  values: Values,
): Step {
  const words = JSON.stringify(at).toLowerCase();
  for (const [name, pattern] of [
    ['passenger.title', /title|salutation|anrede/],
    ['passenger.gender', /gender|sex|geschlecht/],
    ['passenger.nationality', /nation|country|citizen|staat/],
  ] as const) {
    const ours = values[name] ?? '';
    if (pattern.test(words))
      return { do: 'choose', at, value: `{${name}}`, ...(ours !== value && { map: { [ours]: value } }) };
  }
  if (/adult|passenger|traveller|erwachsen/.test(words) && label.trim() === values.adults)
    return { do: 'choose', at, label: '{adults}' };
  return { do: 'choose', at, label: textOf(label, values) };
}

/** A list that the press took an item of. */
function listOf(target: Target, around: readonly string[]): Recorded['list'] {
  const item = around.find((one) => /^(listitem|article|row) /.test(one));
  const role = item?.split(' ')[0] ?? (around.some((one) => one.startsWith('list ')) ? 'listitem' : undefined);
  if (role === undefined) return undefined;
  const list = around.find((one) => one.startsWith('list '))?.slice('list '.length);
  const find = { role } as OneTarget;
  const one = 'in' in target ? target.find : target;
  // A button is named after its item, more often than not.
  const choose =
    'role' in one ? ({ role: one.role } as OneTarget) : 'label' in one ? ({ role: 'radio' } as OneTarget) : one;
  return { list: list === undefined ? find : { in: { role: 'list', name: list, exact: true }, find }, choose };
}

/** Lets the held press happen. */
async function pass(page: Page, frame: Frame, mark: string): Promise<void> {
  const one = frame.locator(`[data-farelock-mark="${mark}"]`);
  await one
    .evaluate((element) => element.setAttribute('data-farelock-pass', ''), null, { timeout: 2_000 })
    .catch(() => undefined);
  await one.click({ timeout: 3_000, noWaitAfter: true }).catch(() => undefined);
  await page.waitForTimeout(600);
  const isLeft = await one.count().catch(() => 0);
  if (isLeft > 0)
    await one
      .evaluate((element) => element.removeAttribute('data-farelock-pass'), null, { timeout: 500 })
      .catch(() => undefined);
}

const headingOf = (page: Page): Promise<string | null> =>
  page
    .getByRole('heading')
    .filter({ visible: true })
    .first()
    .textContent({ timeout: 500 })
    .catch(() => null);
