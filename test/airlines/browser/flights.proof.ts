import { expect, test } from 'vitest';
import { lookForFlights } from '../../../src/airlines/browser/flights.ts';
import { QUERY } from './shop.ts';
import { chromium, recipeFor, serve, visitTo } from './site.ts';

const item = (number: string, departs: string, price: string) =>
  `<li><b>${number}</b> <i>${departs}</i> <u>11:00</u> <em>${price}</em></li>`;

test.runIf(chromium)(
  'a flight that is listed twice is not offered: it could not be told apart when it is bought',
  async () => {
    const site = await serve({
      '/': `<ul>${item('X9 1', '08:00', '$10.00')}${item('X9 2', '08:00', '$20.00')}
      ${item('X91', '08:00', '$30.00')}${item('X9 1', '09:00', '$40.00')}</ul>`,
    });
    const at = (css: string) => ({ at: { css } });
    const recipe = recipeFor(site.base, {
      search: {
        steps: [{ do: 'open', path: '/' }],
        price_for: 'all',
        out: {
          list: { css: 'li' },
          read: {
            flight_number: at('b'),
            departs: { ...at('i'), format: 'HH:mm' },
            arrives: { ...at('u'), format: 'HH:mm' },
            price: { ...at('em'), currency: 'USD' },
          },
        },
      },
    });
    const visit = await visitTo(recipe);
    const { out } = await lookForFlights(visit, QUERY);
    expect(out.map(({ price }) => price.decimal)).toEqual(['20.00', '40.00']);
    await visit.close();
    await site.close();
  },
);
