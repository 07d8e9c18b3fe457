import { mishapOn, scenarioRoute } from '../lowcost/index.ts';

/** The scenarios of the site, with the sentence that docs/sandbox.md says of each. */
export const SITE_SCENARIOS = {
  none: 'Everything works.',
  fare_check_failed: 'The fare menu says that fares are not available.',
  price_differs_at_till: 'The till asks 6 % more.',
  form_rejected: "The page refuses the first adult's passport number.",
  captcha: 'A page asks for proof that a person is there.',
  account_wall: 'A page asks for a log-in.',
  sold_out: 'The seats are gone once the passengers were given.',
  pay_pressed_no_confirmation:
    'The page says without end that the payment is being processed; no mail comes. Every second press is a sale.',
  late_confirmation: 'The page promises a mail, which takes ten times as long, at least 3 seconds.',
  mail_only: 'The page promises a mail, which comes at once.',
  slow_confirmation: 'The page is busy for some seconds before it shows the booking.',
  forged_mail: 'No sale and no page; somebody else sends a mail that looks like the confirmation.',
  wrong_amount: 'Page, mail and booking name another amount than the one that was taken.',
  card_declined: 'The bank declines every card.',
  cookie_bar: 'The cookie wall is a bar over the lower half, with other words on its buttons.',
  cookie_late: 'The cookie wall comes late, and again on every page.',
  layout_changed: 'The button under the fares has another name.',
  two_buttons: 'The till has two buttons named Pay now.',
  insurance_sticks: 'The insurance is ticked again after it was unticked.',
  total_moves: 'The total rises once the card is being typed in.',
  slow_page: 'The fares and the till take several seconds to load.',
  till_500: 'The till answers HTTP 500.',
  cut_with_sale: 'The connection breaks after the press; the sale was made, and the mail comes.',
  cut_without_sale: 'The connection breaks after the press; nothing was sold.',
  popup_over_pay: 'A chat opens over the pay button, with a button that closes it.',
  popup_stuck: 'A picture lies over the pay button, and nothing closes it.',
  pays_itself: 'The till pays as soon as the security code is complete; its button pays again.',
  pays_again: 'The page after the payment reloads itself three times, and each time pays again.',
  answers_late: 'The till takes the money at once, and answers 100 seconds later.',
  redirect_elsewhere: 'The way to the till leads to another host, with a till that looks the same.',
} as const;

export type SiteScenario = keyof typeof SITE_SCENARIOS;

export const SITE_SCENARIO_NAMES = Object.keys(SITE_SCENARIOS) as SiteScenario[];

/** Reads a scenario's name; null for anything else. */
export const siteScenario = (name: string | null | undefined): SiteScenario | null =>
  SITE_SCENARIO_NAMES.find((one) => one === name) ?? null;

/** The scenario of a visit: the one that its start page was opened with, else the route's own, else the site's. */
export function scenarioOfVisit(
  asked: SiteScenario | null,
  configured: SiteScenario,
  origin: string,
  destination: string,
): SiteScenario {
  if (asked !== null) return asked;
  if (!scenarioRoute(origin, destination)) return configured;
  return siteScenario(mishapOn('none', origin, destination)) ?? configured;
}
