import type { RecipePart, Step, Target } from '../recipes/index.ts';

/** Pages of a journey; the person says when each begins. */
export const RECORDED_PAGES = ['search', 'flights', 'fares', 'passengers', 'extras', 'till'] as const;
export type RecordedPage = (typeof RECORDED_PAGES)[number];

/** A comment in the place of a step that is still to be written. */
interface Unwritten {
  readonly '//': string;
  readonly do: `FILL IN: ${string}`;
}

export interface Recorded {
  /** The element's mark: a field's later change replaces the earlier one. */
  readonly mark?: string | undefined;
  readonly page: RecordedPage;
  readonly step: Step | Unwritten;
  /** Set if the person took an item of a list. */
  readonly list?: { readonly list: Target; readonly choose: Target } | undefined;
}

/** The recipe's part for a page's steps: steps that leave the flights or the fares belong to the next part. */
const partOf = (page: RecordedPage, hasFares: boolean): RecipePart =>
  page === 'fares' ? 'passengers' : page === 'flights' ? (hasFares ? 'fares' : 'passengers') : page;

type Fields = Record<string, unknown>;
const part = (recipe: Fields, name: string): Fields => ({ ...(recipe[name] as Fields | undefined) });

/** Puts a recording into a new recipe; what it lacks is left to fill in. */
export function draftOf(
  begun: Fields,
  {
    steps,
    walls,
    card,
    pay,
    hosts,
    routes,
    hasFares,
  }: {
    readonly steps: readonly Recorded[];
    readonly walls: readonly { readonly seen: Target; readonly step: Step }[];
    readonly card: readonly Recorded['step'][];
    readonly pay: Target | null;
    readonly hosts: readonly string[];
    readonly routes: readonly string[];
    readonly hasFares: boolean;
  },
): Fields {
  const of = (name: RecipePart) =>
    steps.filter((one) => partOf(one.page, hasFares) === name && !one.list).map(({ step }) => step);
  const listOf = (page: RecordedPage) => steps.find((one) => one.page === page && one.list)?.list;
  const search = part(begun, 'search');
  const [out, fareList] = [listOf('flights'), listOf('fares')];
  const onward = of('extras').filter((step) => step.do !== 'untick' && step.do !== 'tick');
  return {
    ...begun,
    serves: { ...part(begun, 'serves'), routes: [...routes] },
    site: { ...part(begun, 'site'), hosts: [...hosts] },
    walls: walls.map(({ seen, step }) => ({ seen, steps: [step] })),
    search: { ...search, steps: of('search'), out: { ...part(search, 'out'), ...out } },
    fares: hasFares ? { ...part(begun, 'fares'), steps: of('fares'), ...fareList } : undefined,
    passengers: { ...part(begun, 'passengers'), steps: grouped(of('passengers')) },
    // Unticks every box, and so those that the person unticked.
    extras: { ticked: { role: 'checkbox' }, steps: [] },
    till: {
      ...part(begun, 'till'),
      steps: [...onward, ...of('till')],
      ...(card.length > 0 && { card: [...card] }),
      ...(pay && { pay }),
    },
  };
}

const isOfPassenger = (step: Recorded['step']): boolean => JSON.stringify(step).includes('{passenger.');

/** Wraps steps that use a passenger's fields in a step `passengers`, which repeats them. */
function grouped(steps: readonly Recorded['step'][]): object[] {
  const first = steps.findIndex(isOfPassenger);
  if (first < 0) return [...steps];
  const last = steps.findLastIndex(isOfPassenger);
  const own = steps.slice(first, last + 1).map(numbered);
  return [...steps.slice(0, first), { do: 'passengers', steps: own }, ...steps.slice(last + 1)];
}

/** Turns `Adult 1` into `Adult {passenger.number}`. */
const numbered = (step: Recorded['step']): object => {
  if (!('at' in step) || !step.at || !('in' in step.at) || !('name' in step.at.in)) return step;
  const name = step.at.in.name?.replace(/\b1\b/, '{passenger.number}');
  return { ...step, at: { ...step.at, in: { ...step.at.in, name } } };
};
