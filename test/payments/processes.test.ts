import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, type Program } from '../built.ts';
import { openShop, openWorld, pay, request, type World } from './world.ts';

let world: World;
const seed = 'two processes';
let program: Program;
beforeAll(async () => {
  world = await openWorld({ seed });
  program = await buildProgram('payments/second-process.ts');
});
afterAll(async () => {
  await world.close();
  program.remove();
});

test('two processes on the same files, given the same payment at once, are one call', async () => {
  const shop = openShop(world);
  const body = { both: true };
  const payment = await pay(world, shop, '/search', body);
  const before = await world.usdc(world.treasury);
  const file = join(world.home, 'payment.json');
  writeFileSync(file, JSON.stringify({ payment, body }));
  const run = () => execa('node', [program.path, world.home, seed, file]);
  const ends = (await Promise.all([run(), run()])).map(
    ({ stdout }) => JSON.parse(stdout) as { answers: string[]; performed: number },
  );
  const answers = ends.flatMap((end) => end.answers);
  expect(answers).toHaveLength(6);
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^200 /);
  expect(ends.map((end) => end.performed).reduce((a, b) => a + b)).toBe(1);
  expect(await world.usdc(world.treasury)).toBe(before + 100_000n);
  const here = await shop.fetch(request('/search', body, payment));
  expect(`${here.status} ${await here.text()}`).toBe(answers[0]);
});
