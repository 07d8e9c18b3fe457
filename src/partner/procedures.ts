import type { Procedure } from './call.ts';
import type { PartnerPorts } from './ports.ts';

/**
 * The operations of both services, by path. Each family is loaded with the first call to one of its operations; a line
 * here is all that a family needs.
 */
const FAMILIES: readonly {
  /** `partner/UpdateOrder` */
  readonly operations: readonly string[];
  load(ports: PartnerPorts): Promise<readonly Procedure[]>;
}[] = [
  {
    operations: ['partner/UpdateOrder', 'partner/GetOrders', 'partner/GetOrderDetails'],
    load: async (ports) => (await import('./orders/orders.ts')).orderProcedures(ports),
  },
  {
    operations: [
      'partner/AddCustomerRequirement',
      'customer/GetOnboardingRequirements',
      'customer/SubmitCustomerData',
      'customer/AcceptTerms',
    ],
    load: async (ports) => (await import('./requirements/requirements.ts')).requirementProcedures(ports),
  },
  {
    operations: ['customer/GetAvailablePartners'],
    load: async (ports) => (await import('./offers/offers.ts')).offerProcedures(ports),
  },
  {
    operations: ['customer/CreateOrder'],
    load: async (ports) => (await import('./creation/order-creation.ts')).orderCreation(ports),
  },
];

export interface Procedures {
  /** Whether there is such an operation: `partner/UpdateOrder`. Loads nothing. */
  has(operation: string): boolean;
  find(operation: string): Promise<Procedure>;
  all(): Promise<readonly Procedure[]>;
}

export function createProcedures(ports: PartnerPorts): Procedures {
  const loaded = new Map<(typeof FAMILIES)[number], Promise<readonly Procedure[]>>();
  const load = (family: (typeof FAMILIES)[number]) => {
    const before = loaded.get(family);
    if (before) return before;
    const loading = family.load(ports);
    loaded.set(family, loading);
    // What could not be read (a policy file) may be there for the next call.
    loading.catch(() => loaded.delete(family));
    return loading;
  };
  const familyOf = (operation: string) => FAMILIES.find(({ operations }) => operations.includes(operation));
  return {
    has: (operation) => familyOf(operation) !== undefined,
    async find(operation) {
      const family = familyOf(operation);
      const found = family && (await load(family)).find((one) => `${one.service}/${one.name}` === operation);
      if (!found) throw new Error(`no procedure ${operation}`);
      return found;
    },
    all: async () => (await Promise.all(FAMILIES.map(load))).flat(),
  };
}
