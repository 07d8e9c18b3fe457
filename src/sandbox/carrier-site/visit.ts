import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { type HttpRequest, HttpResponse, headerOf, readBody } from '../../kernel/http.ts';
import { DEARER_BY, type World } from '../airline/index.ts';
import type { Leg, PageFare } from '../lowcost/index.ts';
import type { SiteBooks } from './books.ts';
import type { SiteScenario } from './scenarios.ts';

export interface SitePorts {
  readonly world: World;
  readonly clock: Clock;
  readonly books: SiteBooks;
  readonly scenario: SiteScenario;
  /** From sale to mail, ms (default 300); late mails take ten times as long, at least 3 s. */
  readonly mailMs: number;
  /** Delay of slow pages and confirmations, ms (default 3000). */
  readonly slowMs: number;
  /** Delay of the till of `answers_late`, ms (default 100,000). */
  readonly lateMs: number;
}

export interface Search {
  readonly origin: string;
  readonly destination: string;
  readonly departDate: string;
  readonly returnDate: string | null;
  readonly adults: number;
}

export interface Placed {
  readonly pressId: number;
  readonly shows: 'booking' | 'processing' | 'mail' | 'declined';
  /** The confirmation page is busy until this time. */
  readonly busyUntilMs: number;
}

export type Session = ReturnType<typeof newSession>;

export const legsOf = ({ out, back }: Session): Leg[] => [out, back].filter((leg) => leg !== null);

export interface Visit {
  readonly ports: SitePorts;
  readonly session: Session;
  readonly request: HttpRequest;
  readonly url: URL;
  readonly form: URLSearchParams;
}

/** An answer; null cuts the connection. */
export type SiteAnswer = HttpResponse | null;

export type Pages = Readonly<Record<string, (visit: Visit) => SiteAnswer | Promise<SiteAnswer>>>;

export const redirect = (to: string): HttpResponse => new HttpResponse(303, null, { location: to });

const COOKIE = 'hopper_session';
const IDLE_MS = 45 * 60_000;
const MOST_SESSIONS = 2_000;
const MOST_FORM_BYTES = 64 * 1024;

/** Keeps visitors' sessions, by cookie. */
export function createVisitors(ports: SitePorts) {
  const sessions = new Map<string, Session>();
  let count = 0;
  const begin = (nowMs: number): Session => {
    for (const [id, { seenAtMs }] of sessions) {
      if (seenAtMs > nowMs - IDLE_MS && sessions.size < MOST_SESSIONS) break;
      sessions.delete(id);
    }
    const session = newSession(count++, nowMs, ports.scenario);
    sessions.set(session.id, session);
    return session;
  };
  /** Null if the body is too long. */
  return async (request: HttpRequest, url: URL): Promise<{ visit: Visit; isNew: boolean } | null> => {
    const nowMs = ports.clock.now();
    const body = await readBody(request.body, MOST_FORM_BYTES);
    if (body === null) return null;
    const known = sessions.get(cookieOf(request));
    const session = known ?? begin(nowMs);
    // Keeps the map in the order of last visits.
    sessions.delete(session.id);
    sessions.set(session.id, session);
    session.seenAtMs = nowMs;
    const form = new URLSearchParams(new TextDecoder().decode(body));
    return { visit: { ports, session, request, url, form }, isNew: known === undefined };
  };
}

export const cookieFor = ({ id }: Session): string => `${COOKIE}=${id}; Path=/; HttpOnly; SameSite=Lax`;

const cookieOf = (request: HttpRequest): string =>
  new RegExp(`(?:^|;\\s*)${COOKIE}=([0-9a-f]+)`).exec(headerOf(request, 'cookie') ?? '')?.[1] ?? '';

const newSession = (number: number, nowMs: number, scenario: SiteScenario) => ({
  id: randomBytes(16).toString('hex'),
  /** Decides the order of the fares. */
  number,
  seenAtMs: nowMs,
  asked: null as SiteScenario | null,
  scenario,
  hasAnsweredCookies: false,
  hasClosedNewsletter: false,
  search: null as Search | null,
  out: null as Leg | null,
  back: null as Leg | null,
  /** In the order on the page. */
  fares: [] as readonly PageFare[],
  fare: null as PageFare | null,
  extras: new Set() as ReadonlySet<string>,
  /** Typed values, to show the page again. */
  typed: {} as Readonly<Record<string, string>>,
  familyNames: [] as readonly string[],
  email: '',
  reference: '',
  payToken: '',
  totalHasMoved: false,
  cards: new Map<string, { readonly digest: string; readonly holdsCents: number | null }>(),
  placed: null as Placed | null,
  timesPaid: 0,
  /** The last name on the booking that was opened last. */
  managed: null as string | null,
});

/** Extras, priced in cents for each adult; two are ticked in advance. */
export const EXTRAS = [
  {
    id: 'insurance',
    name: 'Travel insurance',
    what: 'Covers cancellation and lost bags.',
    cents: 1290,
    isTicked: true,
  },
  { id: 'bundle', name: 'Comfort bundle', what: 'A seat in front and a snack.', cents: 1650, isTicked: true },
  { id: 'priority', name: 'Priority boarding', what: 'Be first in the queue.', cents: 890, isTicked: false },
  { id: 'sms', name: 'Text messages', what: 'News of your flight.', cents: 195, isTicked: false },
];

export const preselected = (): ReadonlySet<string> =>
  new Set(EXTRAS.filter(({ isTicked }) => isTicked).map(({ id }) => id));

/** Some scenarios charge more at the till. */
export function basketLines(session: Session, isAtTill = false): { name: string; cents: number }[] {
  const { fare, extras, search, scenario } = session;
  if (!fare) return [];
  const adults = search?.adults ?? 1;
  const isDearer =
    (isAtTill && scenario === 'price_differs_at_till') || (scenario === 'total_moves' && session.totalHasMoved);
  const fareCents = isDearer ? Math.ceil(fare.totalCents * DEARER_BY) : fare.totalCents;
  return [
    { name: `Fare ${fare.brand}`, cents: fareCents },
    ...EXTRAS.filter(({ id }) => extras.has(id)).map(({ name, cents }) => ({ name, cents: cents * adults })),
  ];
}

export const totalOf = (lines: ReturnType<typeof basketLines>): number =>
  lines.reduce((sum, { cents }) => sum + cents, 0);
