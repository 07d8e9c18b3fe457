import type { Airport } from './airports.ts';

const EARTH_RADIUS_KM = 6371;

/** Great-circle distance in kilometres. */
export function distanceKm(a: Airport, b: Airport): number {
  const x = a.place[0] - b.place[0];
  const y = a.place[1] - b.place[1];
  const z = a.place[2] - b.place[2];
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(x * x + y * y + z * z) / 2));
}

/** Share of the journey that goes east, -1 (due west) to 1 (due east), by the shorter way around. */
export function eastward(a: Airport, b: Airport): number {
  const difference = ((b.longitude - a.longitude + 540) % 360) - 180;
  const east = difference * Math.cos((((a.latitude + b.latitude) / 2) * Math.PI) / 180);
  const north = b.latitude - a.latitude;
  const length = Math.hypot(east, north);
  return length === 0 ? 0 : east / length;
}

/**
 * The jet streams' effect on the ground speed from a to b, km/h: with the wind eastbound, against it westbound,
 * strongest around 40 degrees north and south, nothing at the equator.
 */
export function tailwindKmh(a: Airport, b: Airport): number {
  const latitude = Math.abs((a.latitude + b.latitude) / 2);
  const strength = Math.max(0, 1 - Math.abs(latitude - 42) / 32);
  return 65 * strength * eastward(a, b);
}
