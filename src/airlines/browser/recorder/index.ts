import type { Frame, Page } from 'playwright-core';
import type { RoundTrip } from '../../provider.ts';
import { launch, needBrowser } from '../page/index.ts';
import { installed, loadPhones, type OneTarget, type Step, type Target, type Values } from '../recipes/index.ts';
import { mayPay } from '../trial/index.ts';
import { draftOf, RECORDED_PAGES, type Recorded, type RecordedPage } from './draft.ts';
import { LISTEN } from './listen.ts';
import { type Found, type Known, lastingName, listTarget, targetOf } from './target.ts';
import { datePart, hasValue, isCardNumber, placeholderOf, RECORDED_CARD, recordedValues } from './words.ts';

export { RECORDED_CARD, RECORDED_PAGES, type RecordedPage };

/** The item of a list that was pressed. */
interface Item {
  readonly css: readonly string[];
  readonly testId?: string;
  readonly count: number;
  /** True if no other element in the item has this tag. */
  readonly isAlone: boolean;
}

type Report = Known &
  (
    | { readonly kind: 'click'; readonly near: string; readonly isInNotice: boolean; readonly item: Item | null }
    | { readonly kind: 'tick'; readonly item: Item | null }
    | { readonly kind: 'untick' }
    | { readonly kind: 'choose'; readonly value: string; readonly label: string; readonly isCard: boolean }
    | {
        readonly kind: 'fill';
        readonly value: string;
        readonly isCard: boolean;
        readonly account?: 'user' | 'password';
      }
    /** The Enter key in a form without a button. */
    | { readonly kind: 'enter'; readonly mayPay: boolean }
  );

const isOfCard = (report: Report): boolean =>
  'value' in report && (report.isCard || isCardNumber('label' in report ? report.label : report.value));

type Press = Extract<Report, { kind: 'click' }>;
/** Says whether a held press may happen. */
type Answer = (passes: boolean) => void;

const THING = { click: 'button', fill: 'field', choose: 'select', tick: 'box', untick: 'box' };

/** Roles of elements that open or choose something at the till, and never pay. */
const CHOOSES = /^(radio|tab|option|combobox|checkbox|switch)$/;

export type Recording = Awaited<ReturnType<typeof openRecording>>;

/**
 * Opens a site and records a person's way through it. Nothing is paid: presses that may pay are held, as are most at
 * the till; from the till or the card on, only reading requests leave the page.
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
  const context = await browser.newContext({
    ...{ acceptDownloads: false, serviceWorkers: 'block' as const },
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  const { phoneParts } = await loadPhones();
  const phones = phoneParts('contact', recordedValues(options.query)['contact.phone_number']);
  const book = createBook(page, options, phones);
  let last = Promise.resolve();
  await context.exposeBinding(
    'farelockSaw',
    ({ frame }, report: Report) =>
      new Promise<boolean>((answer) => {
        book.expect(report);
        last = last
          .then(() => book.hear(frame, report, answer))
          .catch(() => book.miss(report, 'it failed'))
          .finally(() => answer(false));
      }),
  );
  await context.addInitScript({ content: LISTEN });
  await context.route(
    () => book.isClosed(),
    async (route) => {
      const request = route.request();
      const isLeaving = request.isNavigationRequest() && request.frame() === page.mainFrame();
      const isReading = /^(GET|HEAD|OPTIONS)$/.test(request.method()) && !isLeaving;
      await (isReading ? route.continue() : route.abort('aborted')).catch(() => undefined);
    },
  );
  context.on('page', (other) => void (other !== page && other.close().catch(() => undefined)));
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
  await page.goto(options.url, { waitUntil: 'domcontentloaded', timeout: 30_000 });
  return {
    page,
    /** The values that the person types. */
    typed: recordedValues(options.query),
    begins: (name: RecordedPage) => book.begins(name),
    /** Resolves once everything that the person did is written down. */
    settled: () => last,
    lines: book.lines,
    draft: book.draft,
    close,
  };
}

function createBook(page: Page, { url, query }: { readonly url: string; readonly query: RoundTrip }, phones: Values) {
  const values = { ...recordedValues(query), ...phones };
  const { pathname, search, host: home } = new URL(url);
  const path = `${pathname}${search}`.replace(/[{}]/g, '');
  const steps: Recorded[] = [{ page: 'search', step: { do: 'open', path } }];
  const walls: { seen: Target; step: Step }[] = [];
  const card: Recorded[] = [];
  const lines: string[] = [];
  const hosts = new Set<string>();
  const seen = new Set<RecordedPage>();
  const latest = new Map<string, Report>();
  let now: RecordedPage = 'search';
  let pay: Target | null = null;
  let hasCard = false;
  const isOurs = (text: string) => hasValue(text, values);
  const at = (known: Known) => wordsAt(known, values);

  /** Leaves a comment where a step could not be written down. */
  function miss(report: Report, why: string): void {
    const step: Recorded['step'] = {
      '//': `A step (${report.kind}) was not written down: ${why}.`,
      do: `FILL IN: the step (${report.kind})${at(report)}`,
    };
    (isOfCard(report) ? card : steps).push({ page: now, step });
    lines.push(`${step['//']} Write its step by hand.`);
  }

  async function hear(frame: Frame, report: Report, answer: Answer): Promise<void> {
    const isField = report.kind !== 'click';
    if (isField && latest.get(report.mark) !== report) return;
    const { host } = new URL(frame.url() || 'about:blank');
    if (host !== '' && host !== home) hosts.add(host);
    if (report.kind === 'enter')
      return miss(report, report.mayPay ? 'the page may pay by it, and it was held' : 'no step presses the Enter key');
    const found = await targetOf(frame, report, { isField, isOurs });
    const target = found.target ?? { css: `FILL IN: a CSS selector of the ${THING[report.kind]}${at(report)}` };
    if (found.target === null)
      lines.push(`Nothing points at the ${THING[report.kind]}${at(report)} alone: it is left to fill in.`);
    if (report.kind === 'click') return press(frame, report, found, target, answer);
    const { mark } = report;
    if (report.kind === 'tick' || report.kind === 'untick') {
      const item = report.kind === 'tick' && mayTakeItem() ? await itemOf(frame, report, found, isOurs) : undefined;
      const picked = report.kind === 'tick' && now !== 'flights' && now !== 'fares' ? pickedBy(target, values) : null;
      return note({ mark, step: picked ?? { do: report.kind, at: target }, list: item });
    }
    const step = stepOf(report, target, { values, now });
    if (!isOfCard(report)) return note({ mark, step });
    write(card, { mark, page: now, step });
    lines.push(`till.card: ${'label' in step ? step.label : 'value' in step ? step.value : ''}`);
  }

  const mayTakeItem = () =>
    (now === 'flights' || now === 'fares') && !steps.some((one) => one.page === now && one.list);

  function note({ mark, step, list }: Pick<Recorded, 'mark' | 'list'> & { readonly step: Step }): void {
    write(steps, { mark, page: now, step, list });
    lines.push(`${now}: ${JSON.stringify(step)}`);
  }

  async function press(frame: Frame, report: Press, found: Found, target: Target, answer: Answer): Promise<void> {
    const { role, name } = found;
    const mayBePay = mayPay(`${name}\n${report.near}`) && role !== 'radio';
    if (hasCard || mayBePay || (now === 'till' && !CHOOSES.test(role))) {
      pay = target;
      return void lines.push(`till.pay:${at(report)}, which was held and not pressed`);
    }
    const list = mayTakeItem() ? await itemOf(frame, report, found, isOurs) : undefined;
    const dialog = report.isInNotice && !list ? (await found.around()).find((one) => one.role === 'dialog') : undefined;
    const after = await ledTo(page, answer);
    if (dialog && !isOurs(dialog.name)) {
      const seen = { role: 'dialog' as const, name: dialog.name, exact: true };
      walls.push({ seen, step: { do: 'click', at: target } });
      return void lines.push(`walls: ${seen.name}`);
    }
    const leads = list || !after || isOurs(after) ? {} : { leads_to: { role: 'heading' as const, name: after } };
    note({ step: { do: 'click', at: target, ...leads }, list });
  }

  return {
    ...{ hear, miss, lines },
    /** Notes a report before its turn: only a field's latest change counts, and a card closes the page at once. */
    expect(report: Report): void {
      latest.set(report.mark, report);
      hasCard ||= isOfCard(report);
    },
    /** True once only reading requests leave the page. */
    isClosed: () => hasCard || now === 'till',
    begins(name: RecordedPage) {
      now = name;
      seen.add(name);
      lines.push(`now: ${name}`);
    },
    draft: (begun: Record<string, unknown>) =>
      draftOf(begun, {
        ...{ steps, walls, pay, card: card.map(({ step }) => step), hosts: [...hosts] },
        routes: [`${query.origin}-${query.destination}`, `${query.destination}-${query.origin}`],
        hasFares: seen.has('fares') || !seen.has('passengers'),
      }),
  };
}

/** Describes an element by its words, unless they are of the journey or the traveller. */
function wordsAt({ words }: Known, values: Values): string {
  const plain = words.replace(/[{}\p{Cc}]/gu, '');
  return plain === '' || hasValue(plain, values) ? '' : ` at "${plain}"`;
}

interface Here {
  readonly values: Values;
  readonly now: RecordedPage;
}

type Typed = Extract<Report, { kind: 'choose' | 'fill' }>;

function stepOf(report: Typed, at: Target, { values, now }: Here): Step {
  const words = `${wordsAt(report, values)} ${JSON.stringify(at)}`;
  const typed = report.kind === 'choose' ? report.label : report.value;
  if (isOfCard(report)) {
    const unknown = isCardNumber(typed) ? '{card.number}' : `FILL IN: the value${wordsAt(report, values)}`;
    const value = placeholderOf(typed, values, true) ?? unknown;
    return report.kind === 'choose' ? { do: 'choose', at, label: value } : { do: 'fill', at, value };
  }
  const text = () => textOf(typed, words, report, { values, now });
  if (report.kind === 'choose') return chosen(at, report, { values, literal: text });
  return { do: 'fill', at, value: report.account ? `{account.${report.account}}` : text() };
}

/** Turns typed words into a recipe's: our names, or left to fill in. Plain words stay only in a search or a select. */
function textOf(typed: string, words: string, report: Typed, { values, now }: Here): string {
  const ours = placeholderOf(typed, values) ?? (now === 'search' ? null : datePart(typed, words, values));
  if (ours !== null) return ours;
  const start = typed.trim().toLowerCase();
  const isPart = ['origin_city', 'destination_city'].some(
    (name) => start.length > 1 && values[name]?.toLowerCase().startsWith(start),
  );
  if (/@/.test(typed) && now === 'search') return '{account.user}';
  const isPlain = report.kind === 'choose' ? !/\d/.test(typed) : now === 'search' && !/\d{4}|\d\W+\d/.test(typed);
  if (isPlain && !isPart && !hasValue(typed, values)) return typed.replace(/[{}\p{Cc}]/gu, '');
  return `FILL IN: the value${wordsAt(report, values)}`;
}

/** Finds the list that a pressed item is of. */
async function itemOf(
  frame: Frame,
  { item }: { readonly item: Item | null },
  { role, name, around: look }: Found,
  isOurs: (text: string) => boolean,
): Promise<Recorded['list']> {
  const lasting = item?.isAlone === false && !isOurs(name) ? lastingName(name) : null;
  const choose = { role, ...lasting } as OneTarget;
  const around = await look();
  const outer = around.find((one) => /^(listitem|article|row)$/.test(one.role));
  const list = around.find((one) => one.role === 'list');
  if (outer || list) {
    const find = { role: outer?.role ?? 'listitem' } as OneTarget;
    const isNamed = list && list.name !== '' && !isOurs(list.name);
    return { list: isNamed ? { in: { role: 'list', name: list.name, exact: true }, find } : find, choose };
  }
  const alike = item && (await listTarget(frame, item));
  return alike ? { list: alike, choose } : undefined;
}

/** Lets a held press happen. @returns the heading that it led to; null if that is the same, or has digits */
async function ledTo(page: Page, answer: Answer): Promise<string | null> {
  const before = await headingOf(page);
  answer(true);
  await page.waitForTimeout(600);
  await page.waitForLoadState('domcontentloaded').catch(() => undefined);
  const after = ((await headingOf(page)) ?? '').trim();
  return after !== (before ?? '').trim() && !/[\d{}]/.test(after) ? after : null;
}

/** Adds a step; a field's later change replaces the earlier one. */
function write(all: Recorded[], one: Recorded): void {
  const at = ({ step }: Recorded) => JSON.stringify('at' in step ? step.at : step);
  const isSame = (other: Recorded) =>
    other.page === one.page &&
    other.step.do !== 'click' &&
    ((one.mark !== undefined && other.mark === one.mark) || (at(other) === at(one) && !at(one).includes('FILL IN')));
  const before = one.step.do === 'click' ? -1 : all.findIndex(isSame);
  if (before >= 0) all.splice(before, 1);
  all.push(one);
}

const TITLE = /^(mr|mrs|ms|miss|dr)\.?$/i;
const GENDER = /^(f|female|woman|weiblich|femme|mujer)$/i;

/** Turns a pressed radio of a title or gender into a step `pick` for every traveller. */
function pickedBy(at: Target, values: Values): Step | null {
  const one = 'in' in at ? at.find : at;
  const word = 'label' in one ? one.label : 'role' in one ? one.name : undefined;
  const name = word !== undefined && (TITLE.test(word) ? 'title' : GENDER.test(word) ? 'gender' : null);
  if (!name) return null;
  const picked = { role: 'radio' as const, name: '{picked}', exact: true };
  const map = { [values[`passenger.${name}`] ?? '']: word };
  return { do: 'pick', at: 'in' in at ? { ...at, find: picked } : picked, value: `{passenger.${name}}`, map };
}

function chosen(
  at: Target,
  { value, label }: { readonly value: string; readonly label: string },
  { values, literal }: { readonly values: Values; literal(): string },
): Step {
  const words = JSON.stringify(at).toLowerCase();
  for (const [name, pattern, word] of [
    ['passenger.title', /title|salutation|anrede/, TITLE],
    ['passenger.gender', /gender|sex|geschlecht/, GENDER],
    ['passenger.nationality', /nation|country|citizen|staat/, /^united kingdom$/i],
  ] as const) {
    const ours = values[name] ?? '';
    if (pattern.test(words) || word.test(label.trim()))
      return { do: 'choose', at, value: `{${name}}`, ...(ours !== value && { map: { [ours]: value } }) };
  }
  if (/adult|passenger|traveller|erwachsen/.test(words) && label.trim() === values.adults)
    return { do: 'choose', at, label: '{adults}' };
  return { do: 'choose', at, label: literal() };
}

const headingOf = (page: Page): Promise<string | null> =>
  page
    .getByRole('heading')
    .filter({ visible: true })
    .first()
    .textContent({ timeout: 500 })
    .catch(() => null);
