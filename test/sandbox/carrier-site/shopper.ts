import { sandboxCard } from '../../../src/sandbox/carrier-site/cards.ts';
import { worldClock } from '../../clock.ts';

/** Goes through the site by its forms alone, as fast as a program can. */

export interface Shopper {
  get(path: string): Promise<Response>;
  post(path: string, fields: Readonly<Record<string, string>>): Promise<Response>;
}

/** A visitor with a cookie of his own; redirects are not followed. */
export async function shopperAt(url: string, start = '/'): Promise<Shopper> {
  const first = await fetch(url + start);
  const [cookie = ''] = (first.headers.get('set-cookie') ?? '').split(';');
  return {
    get: (path) => fetch(url + path, { headers: { cookie }, redirect: 'manual' }),
    post: (path, fields) =>
      fetch(url + path, { method: 'POST', headers: { cookie }, body: new URLSearchParams(fields), redirect: 'manual' }),
  };
}

export const dayFromNow = (days: number): string =>
  new Date(worldClock.now() + days * 86_400_000).toISOString().slice(0, 10);

const TRAVELLER = {
  title: 'MS',
  'first-name': 'Ana',
  'last-name': 'Costa',
  gender: 'female',
  born: '05/03/1988',
  nationality: 'PT',
  passport: 'P1234567',
  'passport-expiry': '2090-01-01',
};

export interface AtTill {
  readonly once: string;
  readonly totalCents: number;
}

export const centsIn = (text: string): number => Number(text.replaceAll(/\D/g, ''));

/** From the search to the till, with every extra taken out; `brand` is the fare. */
export async function goToTill(
  shopper: Shopper,
  { origin = 'VIE', destination = 'LIS', brand = 'Cabin', reference = 'ref-1' } = {},
): Promise<AtTill> {
  await shopper.post('/search', { origin, destination, depart: dayFromNow(30), adults: '1', trip: 'oneway' });
  const flights = (await (await shopper.get('/api/flights?direction=out')).json()) as { id: string }[];
  await shopper.post('/flights/choose', { direction: 'out', flight: flights[0]?.id ?? '' });
  const fares = await (await shopper.get('/fares')).text();
  const [, fare = ''] = new RegExp(`value="(\\d)"> Choose ${brand}`).exec(fares) ?? [];
  await shopper.post('/fares', { fare });
  const traveller = Object.entries(TRAVELLER).map(([name, value]) => [`adult-1-${name}`, value]);
  await shopper.post('/passengers', {
    ...Object.fromEntries(traveller),
    email: 'bookings@example.com',
    phone: '+351912345678',
    reference,
  });
  await shopper.post('/extras', {});
  const till = await (await shopper.get('/pay')).text();
  return {
    once: /name="once" value="(\w+)"/.exec(till)?.[1] ?? '',
    totalCents: centsIn(/id="total">([^<]+)</.exec(till)?.[1] ?? ''),
  };
}

/** Gives a card for an amount to the frame; answers with its token. */
export async function giveCard(shopper: Shopper, cents: number, serial: number): Promise<string> {
  const { number, cvc } = sandboxCard(cents, serial);
  const answer = await shopper.post('/card', { number, expiry: '12/31', cvc, holder: 'Farelock' });
  return ((await answer.json()) as { token: string }).token;
}

/** The page after the press. */
export async function press(shopper: Shopper, { once }: AtTill, card: string): Promise<string> {
  await shopper.post('/pay', { once, card });
  return (await shopper.get('/confirmation')).text();
}
