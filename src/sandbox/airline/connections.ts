import { type Airline, type Airport, distanceKm, SHUTTLE, TOPIC, type World } from './world.ts';
import { known } from './zones.ts';

/** An airline's flights between two airports, both ways. */
export interface Service {
  readonly airline: Airline;
  /** The home end, which flight numbers start from. */
  readonly hub: Airport;
  readonly other: Airport;
  readonly distanceKm: number;
  /** Weekly departures each way by slot of the day; 7 is daily. */
  readonly weeklyBySlot: readonly number[];
}

/** Only the shuttle flies shorter distances. */
const WITHIN_A_CITY_KM = 130;
const WEIGHT = [0, 0.15, 0.4, 0.9, 1.7, 2.6];
/** Slots reserved for flight numbers, by the size of the far airport. */
export const SLOTS_BY_SIZE = [0, 2, 3, 5, 10, 14];
const LONGEST_KM = 17_500;

export type Network = ReturnType<typeof createNetwork>;

/** A gravity model of airport sizes, kind of airline and distance. */
export function createNetwork(world: World) {
  const { dice } = world;
  const plans = new Map<number, readonly Service[]>();
  const gatewaysOf = new Map<number, readonly Airport[]>();
  const gatewayHubs = world.hubs.filter((hub) => hub.size >= 4 && world.atHome(hub).some(isFullService));

  /**
   * The hubs that serve a small airport whatever the demand, at least two of them twice a day, so that every airport
   * can be reached.
   */
  const gateways = (airport: Airport): readonly Airport[] => {
    if (airport.size >= 4) return [];
    return known(gatewaysOf, airport.index, () => nearestHubs(airport));
  };

  const nearestHubs = (airport: Airport): readonly Airport[] =>
    gatewayHubs
      .map((hub) => ({ hub, km: distanceKm(airport, hub) }))
      .filter(({ km }) => km > WITHIN_A_CITY_KM)
      .sort((a, b) => a.km - b.km)
      .slice(0, 3)
      .map(({ hub }) => hub);

  const plan = (a: Airport, b: Airport): readonly Service[] => {
    const away = distanceKm(a, b);
    if (away < WITHIN_A_CITY_KM) return shuttle(world, a, b, away);
    const found: Service[] = [];
    const ways = [[a, b] as const, [b, a] as const];
    for (const [hub, other] of ways) {
      for (const airline of world.atHome(hub)) {
        if (found.some((service) => service.airline === airline)) continue;
        const daily = demand(world, airline, hub, other, away);
        if (daily >= 0.15) found.push(service(airline, hub, other, away, daily));
      }
    }
    for (const [hub, other] of ways) {
      const rank = gateways(other).indexOf(hub);
      if (rank < 0 || away > LONGEST_KM) continue;
      const daily = rank < 2 ? 2 : 1;
      if (found.some((one) => one.weeklyBySlot.length >= daily && one.weeklyBySlot[daily - 1] === 7)) continue;
      const home = world.atHome(hub).filter(isFullService);
      const airline = home[dice.pick(home.length, TOPIC.gateway, hub.index, other.index)];
      if (!airline) continue;
      const thinner = found.findIndex((one) => one.airline === airline);
      const stronger = service(airline, hub, other, away, daily);
      if (thinner >= 0) found[thinner] = stronger;
      else found.push(stronger);
    }
    return found;
  };

  return {
    services(a: Airport, b: Airport): readonly Service[] {
      const [low, high] = a.index < b.index ? [a, b] : [b, a];
      const key = low.index * 1024 + high.index;
      let services = plans.get(key);
      if (!services) {
        services = low === high ? [] : plan(low, high);
        plans.set(key, services);
      }
      return services;
    },
  };
}

const isFullService = (airline: Airline) => airline.kind === 'full_service';

function service(airline: Airline, home: Airport, away: Airport, km: number, daily: number): Service {
  // Between two hubs of an airline, the first is the home end.
  const swap = airline.hubs[0] === away.iata && airline.hubs[1] === home.iata;
  const [hub, other] = swap ? [away, home] : [home, away];
  const most = SLOTS_BY_SIZE[other.size] ?? 0;
  const whole = Math.min(Math.floor(daily), most);
  const weeklyBySlot = new Array<number>(whole).fill(7);
  const extra = Math.round((daily - whole) * 7);
  if (extra >= 1 && whole < most) weeklyBySlot.push(Math.min(extra, 6));
  return { airline, hub, other, distanceKm: km, weeklyBySlot };
}

/** Daily flights from the hub; 0 if unwanted or impossible. */
function demand(world: World, airline: Airline, hub: Airport, other: Airport, km: number): number {
  const domestic = hub.country === other.country;
  const reach = { full_service: 14_800, leisure: 4800, regional: 1700 }[airline.kind];
  const nearest = { full_service: 180, leisure: 250, regional: 130 }[airline.kind];
  const bothLarge = hub.size >= 4 && other.size >= 4;
  if (km < nearest) return 0;
  // Beyond non-stop range a few flights make a technical stop.
  if (km > reach) {
    if (airline.kind !== 'full_service' || km > LONGEST_KM || !(bothLarge && hub.size + other.size >= 9)) return 0;
    return world.dice.unit(TOPIC.demand, airline.index, hub.index, other.index) < 0.4 ? 1 : 0;
  }
  if (km > 5000 && other.size < 3) return 0;
  const decay = km < 350 ? 0.8 : km < 1500 ? 1 : km < 3000 ? 0.8 : km < 9000 ? 0.48 : 0.32;
  const kind =
    airline.kind === 'regional'
      ? other.size <= 3
        ? 1.3
        : 0.4
      : airline.kind === 'leisure'
        ? km > 700 && km < 3500
          ? 1
          : 0.8
        : 1;
  const trunk = bothLarge && km < 1600 ? 1.5 : 1;
  const [low, high] = hub.index < other.index ? [hub, other] : [other, hub];
  const jitter = 0.7 + 0.6 * world.dice.unit(TOPIC.demand, airline.index, low.index, high.index);
  return (WEIGHT[hub.size] ?? 0) * (WEIGHT[other.size] ?? 0) * decay * kind * trunk * (domestic ? 1.9 : 1) * jitter;
}

/** Within a city the Sandbox Shuttle flies four times a day. */
function shuttle(world: World, a: Airport, b: Airport, km: number): readonly Service[] {
  const airline = world.airlines[SHUTTLE];
  return airline ? [{ airline, hub: a, other: b, distanceKm: km, weeklyBySlot: [7, 7, 7, 7] }] : [];
}
