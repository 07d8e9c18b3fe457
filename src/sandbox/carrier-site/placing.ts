import { LATE_AT_LEAST_MS, LATE_BY } from '../lowcost/scenarios.ts';
import { html } from './html.ts';
import { confirmationMail } from './mail.ts';
import { page } from './page.ts';
import { centsOf } from './shown.ts';
import { legsOf, type Placed, redirect, type SiteAnswer, type Visit } from './visit.ts';

/** What a wrong confirmation adds to the amount. */
const WRONG_BY_CENTS = 900;
const MOST_PAID_AGAIN = 3;

interface Paying {
  readonly once: string;
  readonly card: { readonly digest: string; readonly holdsCents: number | null };
  readonly total: number;
}

/** Writes the press into the books, takes the card, sells the seats and lets the mail follow, as the scenario has it. */
export async function placeOrder(visit: Visit, { once, card, total }: Paying): Promise<SiteAnswer> {
  const { session, ports } = visit;
  const { books, clock } = ports;
  const { scenario, reference } = session;
  const nowMs = clock.now();
  const holds = scenario === 'card_declined' ? null : card.holdsCents;
  const press = books.press(
    { payToken: once, reference, scenario, amountCents: total, cardDigest: card.digest, atMs: nowMs },
    holds,
  );
  if (press === null) return redirect('/confirmation');
  const placed = (shows: Placed['shows'], busyUntilMs = nowMs): Placed => ({
    pressId: press.pressId,
    shows,
    busyUntilMs,
  });
  const isFirst = session.placed === null;
  if (isFirst) session.placed = placed('processing');
  if (press.outcome === 'declined') {
    if (scenario === 'pays_again' && !isFirst) return paidAgain(visit);
    session.placed = placed('declined');
    return redirect('/confirmation');
  }
  const sale = (confirmsAtMs: number | null) => sell(visit, press.pressId, total, confirmsAtMs);
  switch (scenario) {
    case 'pay_pressed_no_confirmation':
      if (press.pressId % 2 === 0) sale(null);
      return redirect('/confirmation');
    case 'forged_mail':
      forge(visit, total);
      session.placed = placed('mail');
      return redirect('/confirmation');
    case 'cut_without_sale':
      return null;
    case 'cut_with_sale':
      sale(nowMs);
      return null;
    case 'late_confirmation':
      sale(nowMs + Math.max(LATE_AT_LEAST_MS, LATE_BY * ports.mailMs));
      session.placed = placed('mail');
      return redirect('/confirmation');
    case 'pays_itself':
      sale(nowMs);
      session.placed = placed('booking');
      await clock.sleep(ports.slowMs);
      return redirect('/confirmation');
    case 'pays_again':
      sale(nowMs);
      session.placed = placed('booking');
      return paidAgain(visit);
    case 'answers_late':
      sale(nowMs + ports.lateMs);
      session.placed = placed('booking', nowMs + ports.lateMs);
      await clock.sleep(ports.lateMs);
      return redirect('/confirmation');
    case 'mail_only':
      sale(nowMs);
      session.placed = placed('mail');
      return redirect('/confirmation');
    default:
      sale(nowMs);
      session.placed = placed('booking', scenario === 'slow_confirmation' ? nowMs + ports.slowMs : nowMs);
      return redirect('/confirmation');
  }
}

/** A page that reloads itself, which sends the form again; at last it leads to the booking. */
function paidAgain(visit: Visit): SiteAnswer {
  const { session } = visit;
  session.timesPaid += 1;
  if (session.timesPaid > MOST_PAID_AGAIN) return redirect('/confirmation');
  return page(visit, 'One moment', html`<p class="busy" data-reloads>We are processing your payment…</p>`);
}

function sell({ session, ports }: Visit, pressId: number, total: number, confirmsAtMs: number | null): void {
  const { fare, scenario, email, familyNames, reference } = session;
  const { conditions } = fare ?? {};
  const penalty = conditions?.refund_allowed ? centsOf(conditions.refund_penalty_amount ?? '0') : null;
  const sale = ports.books.sell(pressId, {
    shownCents: scenario === 'wrong_amount' ? total + WRONG_BY_CENTS : total,
    flights: flightsOf(session),
    fare: fare?.brand ?? '',
    passengerCount: familyNames.length,
    familyNames,
    refundCents: penalty === null ? null : Math.max(0, total - penalty),
    confirmsAtMs,
  });
  if (confirmsAtMs === null) return;
  ports.books.queueMail(
    { kind: 'signed', ...confirmationMail(email, sale, reference) },
    Math.max(confirmsAtMs, ports.clock.now() + ports.mailMs),
  );
}

/** A mail about a booking that nobody made, by nobody who may sign it. */
function forge({ session, ports }: Visit, total: number): void {
  const mail = confirmationMail(
    session.email,
    { locator: 'FAKE22', flights: flightsOf(session), shownCents: total },
    session.reference,
  );
  ports.books.queueMail({ kind: 'forged', ...mail }, ports.clock.now());
}

const flightsOf = (session: Visit['session']): string =>
  legsOf(session)
    .map(
      ({ carrier, number, departureLocalMs, from, to }) =>
        `${carrier.code}${number} ${from.iata}-${to.iata} ${new Date(departureLocalMs).toISOString().slice(0, 10)}`,
    )
    .join(', ');
