import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seatsToBuy } from '../../../src/kernel/domain/seats.ts';
import { migratedFile } from '../../service/migrated.ts';
import { goodOffer, goodOrder, refusal } from './samples.ts';
import { type DuffelWorld, duffelWorld, isOrderPost, REQUEST, withOffer } from './world.ts';

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
let world: DuffelWorld;
beforeAll(async () => {
  world = await duffelWorld(await migratedFile(home));
});
afterAll(async () => {
  await world.close();
  rmSync(home, { recursive: true });
});

const offered = goodOffer() as { passengers: { id: string }[]; slices: { segments: { id: string }[] }[] };
const [passenger, segment] = [offered.passengers[0]?.id, offered.slices[0]?.segments[0]?.id];
const service = (id: string, total_amount: unknown, more: object = {}) => ({
  ...{ id, passenger_id: passenger, total_amount, total_currency: 'USD' },
  ...more,
});
const LONG = 'x'.repeat(700);
const nothing = { designator: null, name: null, disclosures: null, available_services: [] };

/** Elements as the API's own examples have them, and some that nobody promised. */
const MAP = {
  ...{ id: 'sea_1', slice_id: 'sli_1', segment_id: segment },
  cabins: [
    {
      ...{ deck: 0, cabin_class: 'economy', wings: null, aisles: 1 },
      rows: [
        {
          sections: [
            {
              elements: [
                {
                  ...{ type: 'seat', designator: '8A', name: 'Main Cabin Extra', disclosures: [LONG] },
                  available_services: [
                    service('ase_1', '23.72'),
                    service('ase_x', '9.00', { passenger_id: 'pas_other' }),
                  ],
                },
                {
                  type: 'restricted_seat_general',
                  designator: '8B',
                  name: '',
                  available_services: [service('ase_2', 5)],
                },
                { type: 'empty', ...nothing },
              ],
            },
            { elements: [{ type: 'seat', ...nothing }, { type: 'moon', ...nothing }, { type: 'galley' }] },
          ],
        },
        { sections: [{ elements: [{ type: 'exit_row', ...nothing }] }] },
      ],
    },
  ],
};

const answering = (map: object, order = refusal('invalid_state_error', 'ancillary_service_not_available')) => {
  world.script.answer = withOffer((asked) =>
    asked.path === '/air/seat_maps' ? { body: { data: [map] } } : isOrderPost(asked) ? order : undefined,
  );
};

test('what the API shows is read without a wrong seat or price, whatever else is in it', async () => {
  answering(MAP);
  const maps = (await (await world.provider.offer('off_1')).seatMaps?.()) ?? [];
  const [first, exit] = maps[0]?.cabins[0]?.rows ?? [];
  expect(exit).toEqual([['exit_row']]);
  expect(first?.[1]).toEqual(['empty', 'empty', 'galley']);
  expect(first?.[0]).toMatchObject([
    { designator: '8A', disclosures: [LONG], sold: [{ passenger_index: 0, amount: 23_720_000n, currency: 'USD' }] },
    { designator: '8B', name: null, disclosures: [], sold: [] },
    'empty',
  ]);
  const wanted = [{ passenger_index: 0, segment_index: 0, designator: '8A' }];
  expect(seatsToBuy(maps, 'USD', wanted).amount).toBe(23_720_000n);
  // A map of another offer's flight belongs to none of these.
  answering({ ...MAP, segment_id: 'seg_other' });
  expect(await (await world.provider.offer('off_1')).seatMaps?.()).toEqual([]);
});

test('an order names the service of the seat, and a refusal of it means that the seat is gone', async () => {
  answering(MAP);
  const seats = [{ passenger_index: 0, segment_index: 0, designator: '8A' }];
  const expectedAmountDecimal = '174.92';
  const wanted = { ...REQUEST, reference: 'int_seat_1', expectedAmountDecimal, seats };
  await expect(world.provider.createOrder(wanted)).rejects.toMatchObject({ code: 'seat_unavailable' });
  const posted = world.asked.filter(isOrderPost).at(-1)?.data as Record<string, unknown>;
  expect(posted).toMatchObject({
    services: [{ id: 'ase_1', quantity: 1 }],
    payments: [{ amount: expectedAmountDecimal, currency: 'USD' }],
  });
  const bought = {
    ...{ passengers: [{ id: 'pas_0' }], slices: offered.slices, total_amount: expectedAmountDecimal },
    services: [
      { type: 'seat', metadata: { designator: '8A' }, passenger_ids: ['pas_0'], segment_ids: [segment] },
      { type: 'seat', metadata: { designator: '9A' }, passenger_ids: ['pas_9'], segment_ids: [segment] },
    ],
  };
  world.script.answer = () => ({ body: { data: goodOrder('int_seat_1', bought) } });
  expect((await world.provider.order('ord_1')).seats).toEqual(seats);
});
