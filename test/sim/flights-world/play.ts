import type { Schedule } from '../world/chance.ts';
import { type Disk, syncsOf } from '../world/disk.ts';
import { createWorld, type World } from '../world/world.ts';
import { createFlooder, createThief } from './cheats.ts';
import { createCustomer, type Gossip } from './customers.ts';
import { createDepartment } from './news.ts';
import { createOperator } from './operator.ts';
import type { Fact, Find } from './people.ts';
import { booksOf, checkAtRest, declareRules } from './rules.ts';
import { createServer, type Pace, type Server } from './services.ts';
import { CUSTOMERS, openStage, type Setting, type Stage, type Template, USUAL } from './stage.ts';
import { setLimits } from './tool.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LONGEST_PLAY_MS = 6 * HOUR_MS;

export type Outcome = ReturnType<World['outcome']>;

/** One world from its beginning to its rest. */
export async function play(
  template: Template,
  schedule: Schedule,
  setting: Setting = USUAL,
): Promise<Outcome & { readonly books: object }> {
  const world = createWorld(schedule);
  const disks = new Map<string, Disk>();
  const giveBack = world.take(syncsOf(() => disks.values()));
  const unhandled = (error: unknown) => world.failed('no error goes unheard', error);
  process.on('unhandledRejection', unhandled);
  const pace: Pace = { phase: 'usual' };
  let books: object = {};
  try {
    const stage = await openStage(world, template, disks, setting);
    try {
      await playOn(world, stage, pace);
      books = await booksOf(stage);
    } finally {
      pace.phase = 'over';
      await stage.close();
    }
  } catch (error) {
    world.failed('the world goes on', error);
  } finally {
    process.off('unhandledRejection', unhandled);
    giveBack();
  }
  return { ...world.outcome(), books };
}

async function playOn(world: World, stage: Stage, pace: Pace): Promise<void> {
  const { chance } = world;
  const facts: Fact[] = [];
  const gossip: Gossip = { chosen: [] };
  const watched = declareRules(world, stage);
  const servers = serversOf(world, stage, pace);
  const find: Find = (place) => {
    const up = servers.flatMap((server) => server.reached() ?? []);
    return up[Math.floor(chance.part(`balance ${place}`) * up.length)] ?? null;
  };
  setLimits(world, CUSTOMERS);
  const customers = CUSTOMERS.filter((name) => chance.takesPart(name, name === 'ann' ? 0.9 : 0.6)).map((name) =>
    createCustomer(world, stage, name, find, facts, gossip),
  );
  const operator = createOperator(world, stage, find);
  let looks = true;
  const desk = (async () => {
    for (let look = 1; looks; look++) {
      await world.sleep(
        pace.phase === 'years'
          ? 5 * DAY_MS
          : pace.phase === 'rest'
            ? 5 * 60_000
            : 20_000 + chance.pauseMs(`operator ${look}`, 40_000),
      );
      if (looks) await operator.look();
    }
  })();
  const department = createDepartment(world, stage, find);
  const changing = (async () => {
    for (let look = 1; looks && stage.doesChange && pace.phase !== 'years'; look++) {
      await world.sleep(30_000 + chance.pauseMs(`department ${look}`, 60_000));
      if (looks) await department.look();
    }
  })();
  changing.catch((error: unknown) => world.failed('the airline is never at a loss', error));
  desk.catch((error: unknown) => world.failed('the operator is never at a loss', error));
  for (const customer of customers) world.play(customer.name, customer.play);
  const thief = createThief(world, stage, find, facts, gossip);
  if (chance.takesPart('eve', 0.35)) world.play('eve', thief.play);
  const flooder = createFlooder(world, stage, find, facts);
  if (chance.takesPart('mal', 0.2)) world.play('mal', flooder.play);
  const computers = [...servers, ...customers, thief].map(({ computer }) => computer).concat(flooder.computers);
  await world.run(LONGEST_PLAY_MS);
  // No more faults. Everybody does what is left to do, and time moves until nothing is due any more.
  chance.calm();
  pace.phase = 'finish';
  world.tell('world', 'comes to rest');
  for (const computer of computers) computer.settle();
  for (const customer of customers) world.play(`${customer.name} finishes`, customer.finish);
  await world.run(LONGEST_PLAY_MS);
  pace.phase = 'rest';
  world.play('an hour', () => world.sleep(HOUR_MS));
  await world.run(2 * HOUR_MS);
  pace.phase = 'years';
  servers[1]?.stop();
  world.play('two months', () => world.sleep(66 * DAY_MS));
  await world.run(67 * DAY_MS);
  looks = false;
  if (world.outcome().violation) return;
  await checkAtRest(world, stage, facts, watched);
  pace.phase = 'over';
}

function serversOf(world: World, stage: Stage, pace: Pace): Server[] {
  const names = world.chance.takesPart('a second service', 0.5) ? ['one', 'two'] : ['one'];
  return names.map((name) => createServer(world, stage, name, pace));
}
