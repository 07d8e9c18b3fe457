import { expect, test } from 'vitest';
import { validateCustomerData } from '../../../src/partner/customer-data/index.ts';
import { SEEDED_CUSTOMER_DATA } from '../../../src/sandbox/partners/seed-customers.ts';

const all = SEEDED_CUSTOMER_DATA.flatMap(({ data }) => data);

test.each(all)('$dataId is valid data, in the form that it is kept in', async ({ value }) => {
  const checked = await validateCustomerData(value, { nowMs: Date.UTC(2026, 10, 21) });
  expect(checked).toMatchObject({ data: value });
});
