import type { Airport } from './airports.ts';
import type { Aircraft, FleetRole } from './fleet.ts';
import { distanceKm } from './geography.ts';
import type { Service } from './network.ts';
import { TOPIC } from './random.ts';
import type { World } from './world.ts';

/** The types that an airline could send on a service: those that reach, else the one that is sent with a stop. */
export function suitedAircraft(world: World, service: Service): readonly Aircraft[] {
  const fleet = world.fleet[roleOf(service)];
  const { hub, other, distanceKm: km } = service;
  const huge = hub.size === 5 && other.size === 5;
  const suited = fleet.filter((one) => one.rangeKm >= km * 1.03 && (huge || one.seats.economy < 300));
  return suited.length > 0 ? suited : fleet.filter((one) => one.seats.economy < 300);
}

/** The type that flies a slot: the airline's favourite among the suited, another one now and then. */
export function chooseAircraft(
  world: World,
  { airline, hub, other }: Service,
  slot: number,
  suited: readonly Aircraft[],
): Aircraft {
  const another = world.dice.unit(TOPIC.aircraft, airline.index, hub.index, other.index, slot) < 0.35;
  const turn = another
    ? world.dice.bits(TOPIC.aircraft, airline.index, other.index, slot)
    : world.dice.bits(TOPIC.aircraft, airline.index);
  const chosen = suited[turn % suited.length];
  if (!chosen) throw new Error('a fleet is empty');
  return chosen;
}

function roleOf({ airline, hub, other, distanceKm: km }: Service): FleetRole {
  if (airline.kind === 'regional') return airline.hubs.length === 0 ? 'hop' : 'regional';
  if (airline.kind === 'leisure') return 'short_leisure';
  if (km < 900 && Math.min(hub.size, other.size) <= 2) return 'regional';
  if (km < 4200) return 'short';
  return km < 7000 && Math.min(hub.size, other.size) < 5 ? 'medium' : 'long';
}

/**
 * Where a flight lands on the way without a change of flight: always when the aircraft does not reach, and on a few
 * regional routes that serve two small places at once.
 */
export function technicalStop(
  world: World,
  service: Service,
  aircraft: Aircraft,
  slot: number,
): Airport | null {
  const { airline, hub, other, distanceKm: km } = service;
  const tooFar = km > aircraft.rangeKm;
  const chance = world.dice.unit(TOPIC.technicalStop, airline.index, hub.index, other.index, slot);
  if (tooFar) return onTheWay(world, hub, other, km, 1.15, (stop) => stop.size >= 4, aircraft.rangeKm);
  const small = Math.min(hub.size, other.size) <= 2;
  if (airline.hubs.length > 0 && small && km > 500 && km < 2200 && chance < 0.2) {
    const local = (stop: Airport) =>
      stop.size <= 3 && (stop.country === other.country || stop.country === hub.country);
    return onTheWay(world, hub, other, km, 1.2, local, aircraft.rangeKm);
  }
  if (km > 11_000 && chance < 0.03) {
    return onTheWay(world, hub, other, km, 1.06, (stop) => stop.size >= 4, aircraft.rangeKm);
  }
  return null;
}

/** The suitable airport that adds least to the way, null when none stays within `detour`. */
function onTheWay(
  world: World,
  a: Airport,
  b: Airport,
  km: number,
  detour: number,
  suits: (stop: Airport) => boolean,
  rangeKm: number,
): Airport | null {
  let best: Airport | null = null;
  let shortest = km * detour;
  for (const stop of world.airports) {
    if (stop === a || stop === b || !suits(stop)) continue;
    const first = distanceKm(a, stop);
    const second = distanceKm(stop, b);
    if (Math.min(first, second) < km * 0.2 || Math.max(first, second) > rangeKm) continue;
    if (first + second < shortest) {
      shortest = first + second;
      best = stop;
    }
  }
  return best;
}
