import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, type Program } from '../../built.ts';
import { openSandbox, query } from './world.ts';

const sandbox = openSandbox();
let program: Program;
beforeAll(async () => {
  program = await buildProgram('sandbox/airline/second-airline.ts');
});
afterAll(async () => {
  await sandbox.close();
  program.remove();
});

test('processes see one world, and the same references at once make one order each', async () => {
  const run = () => execa('node', [program.path, sandbox.orders, '12']);
  const ends = (await Promise.all([run(), run(), run()])).map(
    ({ stdout }) => JSON.parse(stdout) as { ids: string[]; made: string[] },
  );
  const here = (await sandbox.provider.search(query('LHR', 'JFK'))).map((offer) => offer.offer_id);
  for (const { ids, made } of ends) {
    expect(ids).toEqual(here);
    expect(made).toEqual(ends[0]?.made);
    expect(new Set(made.map((order) => order.split(' ')[1])).size).toBe(12);
  }
});
