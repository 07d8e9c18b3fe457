import * as z from 'zod';
import { pattern, readDate, readMoney, readNumber, readText, step, steps, stops, target } from './steps.ts';

/**
 * How one carrier's web site is searched, bought from, and asked about: data, one file a carrier (docs/carriers.md).
 * What has to be exact is done by code, not by the recipe: flights are found by number and day, fares by content, the
 * total is compared with the only price that may be paid, and the pay button is pressed once.
 */

/** A carrier's flights and what each costs, as a result page lists them. */
const flightList = z.strictObject({
  /** Each item is one flight. */
  list: target,
  /** Seen instead of the list where nothing flies. */
  none: target.optional(),
  read: z.strictObject({
    /** The marketing number, as `X91204`. */
    flight_number: readText,
    /** The day in it may be left out of the page: then it is the day that was asked for. */
    departs: readDate,
    /** A time alone that lies before the departure's is of the next day. */
    arrives: readDate,
    /** The cheapest fare. */
    price: readMoney,
    carrier_name: readText.optional(),
    operating_flight_number: readText.optional(),
    aircraft_name: readText.optional(),
    origin_terminal: readText.optional(),
    destination_terminal: readText.optional(),
    /** Technical stops and connections are not told apart by most sites: left out, it flies straight. */
    stops: readNumber.optional(),
    /** Of the cheapest fare, where the list says so. */
    fare_brand_name: readText.optional(),
    checked_bags: readNumber.optional(),
    carry_on_bags: readNumber.optional(),
  }),
  /** Takes the flight, within its item. Left out: the item itself is clicked. */
  choose: target.optional(),
});

/** From the open home page to a list of flights. */
const search = z.strictObject({
  steps,
  /** Prices of the list are for one passenger, or for all. */
  price_for: z.enum(['one', 'all']),
  out: flightList,
  /** Only carriers that sell a return trip in one visit; its prices are added to those of the way out. */
  back: flightList.extend({ before: steps.optional() }).optional(),
  /** How long an offer may be shown after it was read. */
  offer_life_minutes: z.int().min(5).max(240).optional(),
});

/** The page that is left once flights were chosen: what can be bought for them. */
const fares = z.strictObject({
  steps: steps.optional(),
  list: target,
  /** Seen where none can be had any more. */
  none: target.optional(),
  price_for: z.enum(['one', 'all']),
  read: z.strictObject({
    brand: readText.optional(),
    price: readMoney,
    checked_bags: readNumber.optional(),
    carry_on_bags: readNumber.optional(),
    change_allowed: readText.optional(),
    /** Of the whole booking. */
    change_penalty: readMoney.optional(),
    refund_allowed: readText.optional(),
    refund_penalty: readMoney.optional(),
  }),
  choose: target.optional(),
});

const extras = z.strictObject({
  /** Every extra that can be ticked: whatever is ticked among them is unticked, whoever ticked it. */
  ticked: target.optional(),
  steps: steps.optional(),
});

const till = z.strictObject({
  /** To the till, and on it up to the card. */
  steps: steps.optional(),
  /** What the carrier is going to take: all passengers, everything in it. */
  total: readMoney,
  /** Fills in the card; nothing here may pay. */
  card: steps,
  /**
   * What the till sends something to without paying, once the card is on it: the path on the site, or the whole address
   * of another host, without the query. Whatever else it sends may be the payment.
   */
  harmless_posts: z.array(pattern).max(30).optional(),
  /** The one button that pays. It is pressed by code, once, after that is on record. */
  pay: target,
});

/** What a confirmation says, wherever it is read. */
const confirmed = {
  booking_reference: readText,
  /** Left out where the site doesn't say it: then it is the total that the till asked for. */
  paid: readMoney.optional(),
};

const confirmation = z.strictObject({
  /** Bought: the page that has the booking's reference. */
  seen: target,
  read: z.strictObject(confirmed),
  /** Seen where the carrier has taken the order and confirms it later. */
  later: target.optional(),
  within_ms: z.int().min(1000).max(180_000).optional(),
});

/** The carrier's own mail, signed by its domain. */
const mail = z.strictObject({
  /** The domain of the From address; the DKIM signature has to be of it, or of a domain above it. */
  domain: z.string().regex(/^[a-z0-9.-]+\.[a-z]{2,}$/),
  subject: pattern,
  /** Read from the text of the mail. */
  booking_reference: pattern,
  paid: pattern.optional(),
});

const manage = z.strictObject({
  /** Opens the booking, by its reference and a name, or whatever the site asks for. */
  steps,
  /** Seen where the booking is there and paid. */
  seen: target,
  read: z.strictObject(confirmed),
  /** Seen where the site knows no such booking. That is never taken for "nothing was bought". */
  none: target.optional(),
  cancelled: target.optional(),
  /** From the open booking. The button is pressed once a call; `done` is seen when it is cancelled. */
  cancel: z
    .strictObject({
      /** Seen on the booking's page where it can be given back; without it, it always can. */
      offered: target.optional(),
      steps,
      press: target,
      done: target,
    })
    .optional(),
});

const NUMBER_FORMATS = ['1,234.50', '1.234,50', '1 234,50', '1 234.50', "1'234.50"] as const;

export const recipeSchema = z.strictObject({
  /** Of this schema. */
  format: z.literal(1),
  /** Of the recipe: raised whenever it is changed, and written beside what was done by it. */
  version: z.int().min(1),
  carrier: z.strictObject({
    /** Two characters, as in its flight numbers. */
    code: z.string().regex(/^[A-Z0-9]{2}$/),
    name: z.string().min(1).max(80),
  }),
  site: z.strictObject({
    /** https, or http to this machine. An operator may set another one (`sites`). */
    base: z.url({ protocol: /^https?$/ }),
    /** Whatever else a page needs: no other host can be reached. The base's own is always among them. */
    hosts: z
      .array(z.string().regex(/^[a-z0-9.-]+(:\d+)?$/))
      .max(30)
      .optional(),
    locale: z.string().max(20).optional(),
    time_zone: z.string().max(60).optional(),
    currency: z.string().regex(/^[A-Z]{3}$/),
    /** What the site writes for a currency, such as `US$`. A code (`USD`) needs no line. */
    symbols: z.record(z.string().min(1).max(5), z.string().regex(/^[A-Z]{3}$/)).optional(),
    numbers: z.enum(NUMBER_FORMATS),
    /** For MMM and MMMM, January first. Default: English. */
    months: z.array(z.string().min(1)).length(12).optional(),
    /** Steps go this much apart from each other, as a person's do. Default: 0. */
    pause_ms: z.int().min(0).max(5000).optional(),
  }),
  serves: z.strictObject({
    /** `LTN-LGW`, `LTN-*`, `*-*`; both ways have to be listed. */
    routes: z.array(z.string().regex(/^([A-Z]{3}|\*)-([A-Z]{3}|\*)$/)).min(1),
    most_passengers: z.int().min(1).max(9).optional(),
  }),
  /**
   * Looked for before every step and whenever a step finds nothing: cookie walls and pop-ups, which are cleared away,
   * and what ends a visit.
   */
  walls: z
    .array(
      z.union([
        z.strictObject({ seen: target, stop: stops }),
        z.strictObject({ seen: target, steps: z.array(step).min(1).max(10) }),
      ]),
    )
    .max(30),
  search,
  fares,
  passengers: z.strictObject({ steps }),
  extras,
  till,
  /** The site's complaints about what was filled in; any of them ends the purchase before it pays. */
  rejected: z
    .strictObject({
      list: target,
      field: readText,
    })
    .optional(),
  confirmation,
  mail: mail.optional(),
  manage: manage.optional(),
});

/** A recipe as it stands in its file. */
export type Recipe = z.infer<typeof recipeSchema>;
export type FlightList = z.infer<typeof flightList>;
export type RecipePart = 'search' | 'fares' | 'passengers' | 'extras' | 'till' | 'confirmation' | 'manage';
