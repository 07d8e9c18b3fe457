import { hash } from 'node:crypto';
import { LOWCOST_PREFIX } from '../../airlines/fulfiller.ts';
import type { World } from '../airline/world.ts';
import { CARRIERS, carriersBetween } from './carriers.ts';
import { type Leg, legOf, type Trip, waves } from './flights.ts';

const MAC_CHARACTERS = 10;
const LEG = /^([A-Z0-9]{2})(\d{4})-([A-Z]{3})-([A-Z]{3})-(\d{4})(\d\d)(\d\d)$/;

/**
 * `lowcost:P91204-LIS-BER-20261220.1.t3x9k2.a1b2c3d4e5`: the flights, the adults, the minute of the quote, and a MAC
 * keyed from the seed. Nothing is stored for a quote, and every process reads the same trip from it.
 */
export function writeOfferId(world: World, trip: Trip): string {
  const body = `${trip.legs.map(legText).join('~')}.${trip.adults}.${trip.quotedMinute.toString(36)}`;
  return `${LOWCOST_PREFIX}${body}.${macOf(world, body)}`;
}

/** null: no quote of this world. */
export function readOfferId(world: World, offerId: string): Trip | null {
  if (!offerId.startsWith(LOWCOST_PREFIX) || offerId.length > 120) return null;
  const text = offerId.slice(LOWCOST_PREFIX.length);
  const end = text.lastIndexOf('.');
  const body = text.slice(0, end);
  // The MAC covers every character: past it, the id is one that this world wrote.
  if (end < 0 || text.slice(end + 1) !== macOf(world, body)) return null;
  const [flights = '', adults = '', minute = ''] = body.split('.');
  const legs = flights.split('~').map((one) => readLeg(world, one));
  if (!legs.every((leg) => leg !== null)) return null;
  return { legs, adults: Number(adults), quotedMinute: Number.parseInt(minute, 36) };
}

const macOf = ({ seed }: World, body: string): string =>
  hash('sha256', `farelock lowcost ${seed}|${body}|${seed}`, 'hex').slice(0, MAC_CHARACTERS);

const legText = (leg: Leg): string => {
  const date = new Date(leg.departureLocalMs).toISOString().slice(0, 10).replaceAll('-', '');
  return `${leg.carrier.code}${leg.number}-${leg.from.iata}-${leg.to.iata}-${date}`;
};

function readLeg(world: World, text: string): Leg | null {
  const [, code, number, origin = '', destination = '', year, month, day] = LEG.exec(text) ?? [];
  const from = world.byCode(origin);
  const to = world.byCode(destination);
  const carrier = CARRIERS.find((one) => one.code === code);
  if (!from || !to || !carrier || !carriersBetween(from, to).includes(carrier)) return null;
  const days = Math.floor(Date.parse(`${year}-${month}-${day}T00:00:00Z`) / 86_400_000);
  const legs = waves.map((wave) => legOf(world, carrier, from, to, days, wave));
  return legs.find((leg) => leg.number === Number(number)) ?? null;
}
