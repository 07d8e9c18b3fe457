import type { Schedule } from '../world/chance.ts';
import { createWorld, type World } from '../world/world.ts';
import { checkAtRest, checkLists } from './at-rest.ts';
import { createCustomer } from './customers.ts';
import { createHistory } from './history.ts';
import { createOperator } from './operator.ts';
import type { Find } from './people.ts';
import { createServer } from './services.ts';
import { createStaff } from './staff.ts';
import { CUSTOMERS, openStage, type Stage, type Template } from './stage.ts';
import { createTruth } from './truth.ts';

const HOUR_MS = 3_600_000;
const LONGEST_PLAY_MS = 6 * HOUR_MS;

export type Outcome = ReturnType<World['outcome']>;

/** One world from its beginning to its rest. */
export async function play(template: Template, schedule: Schedule): Promise<Outcome> {
  const world = createWorld(schedule);
  const giveBack = world.take();
  const unhandled = (error: unknown) => world.failed('no error goes unheard', error);
  process.on('unhandledRejection', unhandled);
  try {
    const stage = openStage(world, template);
    try {
      await playOn(world, stage);
    } finally {
      stage.pace.phase = 'over';
      stage.close();
    }
  } catch (error) {
    world.failed('the world goes on', error);
  } finally {
    process.off('unhandledRejection', unhandled);
    giveBack();
  }
  return world.outcome();
}

async function playOn(world: World, stage: Stage): Promise<void> {
  const { chance } = world;
  const { pace } = stage;
  const truth = createTruth(world, stage);
  const history = createHistory(world, truth);
  const names = chance.takesPart('a second service', 0.6) ? ['one', 'two'] : ['one'];
  const servers = names.map((name) => createServer(world, stage, name));
  const find: Find = (place) => {
    const up = servers.flatMap((server) => server.reached() ?? []);
    return up[Math.floor(chance.part(`balance ${place}`) * up.length)] ?? null;
  };
  const around = { find, truth, history };
  const customers = CUSTOMERS.filter((name) => chance.takesPart(name, name === 'ana' ? 0.9 : 0.55)).map((name) =>
    createCustomer(world, stage, name, around),
  );
  const staff = (['bank', 'pix'] as const)
    .flatMap((slug) => (['office', 'desk'] as const).map((role) => ({ slug, role })))
    .filter(({ slug, role }) => chance.takesPart(`${slug}-${role}`, role === 'office' ? 0.85 : 0.5))
    .map((who) => createStaff(world, stage, who, around));
  const operator = createOperator(world, stage, find);
  for (const one of [...customers, ...staff]) world.play(one.name, one.play);
  if (customers.some(({ name }) => name === 'eva')) world.play('operator', operator.play);
  await world.run(LONGEST_PLAY_MS);
  // No more faults. Everybody hears what is left to be heard, and time moves until nothing is due any more.
  chance.calm();
  pace.phase = 'finish';
  world.tell('world', 'comes to rest');
  for (const { computer } of [...servers, ...customers, ...staff, operator]) computer.settle();
  for (const customer of customers) world.play(`${customer.name} finishes`, customer.finish);
  await world.run(LONGEST_PLAY_MS);
  pace.phase = 'rest';
  // A platform that is silent for longer than anybody asks it is waited for as well.
  const doubtMs = stage.platform.refused.size > 0 ? 26 * HOUR_MS : 0;
  const restMs = Math.max(HOUR_MS, doubtMs, stage.platform.longestOutageEndsMs() + HOUR_MS - world.now());
  world.play('a rest', () => world.sleep(restMs));
  await world.run(restMs + HOUR_MS);
  world.play('the partners list', () => checkLists(world, truth, staff));
  await world.run(HOUR_MS);
  if (!world.outcome().violation) {
    const wishes = customers.flatMap((customer) => customer.wishes);
    checkAtRest(world, stage, truth, wishes);
  }
  pace.phase = 'over';
}
