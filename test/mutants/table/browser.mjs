// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source
const BROWSER = 'src/flights/providers/browser';
const TESTS = 'test/flights/providers/browser';
const SITE = ['test/sandbox/carrier-site/scenarios.test.ts'];

/** Purchases on carriers' web sites: what is pressed, believed and kept. @type {import('../mutant.d.mts').Mutant[]} */
export const browser = [
  {
    name: 'the till may ask for any price',
    file: `${BROWSER}/visits/buy.ts`,
    from: 'parseUsdc(total.decimal) === parseUsdc(purchase.amountDecimal);',
    to: 'parseUsdc(total.decimal) > 0n;',
    by: SITE,
  },
  {
    name: 'the total is not looked at again once the card is typed in',
    file: `${BROWSER}/visits/buy.ts`,
    from: '  const differs = priceDiffers(total, errand);\n  if (differs) return differs;\n  if (visit.isGone())',
    to: '  if (visit.isGone())',
    by: SITE,
  },
  {
    name: 'what is ticked beforehand is bought',
    file: `${BROWSER}/visits/buy.ts`,
    from: "  if (recipe.extras.ticked) await untickAll(extras, recipe.extras.ticked, 'extras (ticked)');\n",
    to: '',
    by: SITE,
  },
  {
    name: 'the button is pressed whoever has the purchase',
    file: `${BROWSER}/visits/buy.ts`,
    from: "  if (!(await errand.press(total))) return { kind: 'taken_over' };",
    to: '  await errand.press(total);',
    by: [`${TESTS}/journey.test.ts`],
  },
  {
    name: 'a visit that was taken over may press as well',
    file: `${BROWSER}/purchases.ts`,
    from: "      updated_at_ms: nowMs,\n    })\n    .where('reference', '=', reference)\n    .where('run', '=', run)\n    .where('state', '=', 'begun')\n    .executeTakeFirst();\n  return pressed",
    to: "      updated_at_ms: nowMs,\n    })\n    .where('reference', '=', reference)\n    .where('state', '=', 'begun')\n    .executeTakeFirst();\n  return pressed",
    by: [`${TESTS}/purchases.test.ts`],
  },
  {
    name: 'a purchase that was pressed is begun anew',
    file: `${BROWSER}/purchases.ts`,
    from: "        .where('browser_purchases.state', '=', 'begun'),\n",
    to: '',
    by: [`${TESTS}/purchases.test.ts`],
  },
  {
    name: 'what lies over the button at the last moment is left there',
    file: `${BROWSER}/page/click.ts`,
    from: '!isTimeout(error) || !tells || error.message.includes(BEGUN)',
    to: '!isTimeout(error) || error.message.length > 0',
    by: [`${TESTS}/journey.test.ts`],
  },
  {
    name: 'a button is pressed again by a log that nobody has read',
    file: `${BROWSER}/page/click.ts`,
    from: '!isTimeout(error) || !tells || error.message.includes(BEGUN)',
    to: '!isTimeout(error) || error.message.includes(BEGUN)',
    by: [`${TESTS}/steps.test.ts`],
  },
  {
    name: 'a click that a pop-up has swallowed is not made again',
    file: `${BROWSER}/page/click.ts`,
    from: '    if (clearedIn(walk) > cleared && (await tryOnce()).found) cleared = clearedIn(walk);\n',
    to: '',
    by: [`${TESTS}/steps.test.ts`],
  },
  {
    name: 'of two that fit the first is clicked',
    file: `${BROWSER}/page/click.ts`,
    from: '    const one = shown(walk, at);\n    const count = await one.count();\n    if (count !== 1)',
    to: '    const one = shown(walk, at).first();\n    const count = await one.count();\n    if (count === 0)',
    by: [`${TESTS}/steps.test.ts`],
  },
  {
    name: "a mail is believed whoever's domain has signed it",
    file: `${BROWSER}/mail.ts`,
    from: "      if (!isOwn) return 'signature_foreign';\n",
    to: '',
    by: [`${TESTS}/mail.test.ts`],
  },
  {
    name: 'a mail is believed whatever became of its signature',
    file: `${BROWSER}/mail.ts`,
    from: "      if (status.result !== 'pass') return 'signature_wrong';\n",
    to: '',
    by: [`${TESTS}/mail.test.ts`],
  },
  {
    name: 'the mail of another purchase confirms this one',
    file: `${BROWSER}/mail.ts`,
    from: ' || !isTo(email, address)) continue;',
    to: ') continue;',
    by: [`${TESTS}/mail.test.ts`],
  },
  {
    name: 'a page reaches every host',
    file: `${BROWSER}/page/fence.ts`,
    from: 'return port !== undefined && hosts.includes(`${url.hostname}:${port}`);',
    to: 'return port !== undefined && hosts.length > 0;',
    by: [`${TESTS}/recipes.test.ts`],
  },
  {
    name: 'a screenshot shows what was typed',
    file: `${BROWSER}/page/redact.ts`,
    from: 'return [...ALWAYS, ...patterns].join',
    to: 'return [...ALWAYS].join',
    by: [`${TESTS}/steps.test.ts`],
  },
  {
    name: "a real carrier's seat is locked though no card pays for it",
    file: 'src/flights/offers/lowcost-offers.ts',
    from: "  await checkOpen(ports, 'lowcost');\n  checkPayable(live);\n",
    to: "  await checkOpen(ports, 'lowcost');\n",
    by: ['test/flights/offers/lowcost.test.ts'],
  },
  {
    name: 'a made-up card is tried at a real till',
    file: `${BROWSER}/selling.ts`,
    from: "  if (!paysAt(shop, recipe)) throw siteFailed('no card of this service pays there');\n",
    to: '',
    by: [`${TESTS}/journey.test.ts`],
  },
];
