/**
 * The airlines of the sandbox. All of them are invented, codes included: none is meant to be a real company. Rows are
 * only ever added at the end: offer ids and flight numbers name an airline by its position.
 */
type AirlineKind = 'full_service' | 'leisure' | 'regional';
type Alliance = 'Meridian Circle' | 'Compass Concord' | 'Windrose Network';

export interface Airline {
  readonly index: number;
  /** Two characters, openly fictional. */
  readonly code: string;
  readonly name: string;
  readonly kind: AirlineKind;
  /** At most two: flight numbers are laid out per hub. */
  readonly hubs: readonly string[];
  readonly alliance: Alliance | null;
  readonly programme: string | null;
  /** Economy fare brands, the most restricted first. */
  readonly brands: readonly string[];
}

type AirlineRow = readonly [
  code: string,
  name: string,
  kind: AirlineKind,
  hubs: string,
  alliance: Alliance | null,
  programme: string | null,
  brands: string,
];

const M = 'Meridian Circle';
const C = 'Compass Concord';
const W = 'Windrose Network';

const AIRLINE_TABLE: readonly AirlineRow[] = [
  // Flies where nobody else would: within a city, and on the routes that are set aside for testing.
  ['X0', 'Sandbox Shuttle', 'regional', '', null, null, 'Hop,Hop Plus,Hop Flex'],
  // Europe
  ['ZA', 'Zephyr Atlantic', 'full_service', 'LHR MAN', M, 'Zephyr Club', 'Breeze,Trade Wind,Gale'],
  ['N1', 'Kittiwake Air', 'leisure', 'LGW EDI', null, null, 'Feather,Wing,Flock'],
  ['T1', 'Tower Bridge Airways', 'full_service', 'LHR LGW', W, 'Bridge Points', 'Light,Classic,Flex,Flex Plus'],
  ['J1', 'Aurelia Airways', 'full_service', 'CDG NCE', C, 'Aurelia Étoiles', 'Léger,Classique,Souple'],
  ['O1', 'Seine & Sea', 'leisure', 'ORY MRS', null, 'Sillage', 'Rive,Quai,Large'],
  ['P1', 'Polderjet', 'full_service', 'AMS', C, 'Polder Miles', 'Dike,Canal,Open Sea'],
  ['L1', 'Lorelei Airways', 'full_service', 'FRA MUC', W, 'Lorelei & Friends', 'Light,Classic,Flex'],
  ['K1', 'Spreejet', 'leisure', 'BER DUS', null, null, 'Go,Go Bag,Go Easy'],
  ['R1', 'Boreal Wings', 'full_service', 'CPH ARN', W, 'Aurora Bonus', 'Lite,Smart,Pro'],
  ['Y1', 'Fjordhopper', 'regional', 'OSL BGO', null, 'Aurora Bonus', 'Nær,Mellom,Fri'],
  ['H0', 'Northlight Air', 'full_service', 'HEL KEF', M, 'Northlight Club', 'Basic,Standard,Full'],
  ['X5', 'Hesperia Air', 'full_service', 'MAD BCN', M, 'Hesperia Más', 'Básica,Óptima,Flexible'],
  ['Q1', 'Swiftlet', 'leisure', 'BCN LIS', null, null, 'Seat,Seat & Bag,Seat & Freedom'],
  ['V1', 'Castell Air', 'leisure', 'BCN MAD', null, 'Castell+', 'Torre,Mur,Plaça'],
  ['E0', 'Lusavia', 'full_service', 'LIS OPO', W, 'Milhas Lusavia', 'Discount,Classic,Plus'],
  ['X6', 'Tramontana', 'full_service', 'FCO MXP', C, 'Tramontana Mille', 'Leggera,Classica,Piena'],
  ['X7', 'Edelwind', 'full_service', 'ZRH VIE', W, 'Edelwind Peaks', 'Light,Classic,Flex'],
  ['Z1', 'Marmara Sky', 'full_service', 'IST ESB', W, 'Marmara Miles', 'EcoFly,ExtraFly,PrimeFly'],
  ['X1', 'Celtic Tern', 'full_service', 'DUB', M, 'Tern Club', 'Saver,Smart,Advantage'],
  ['U1', 'Amber Road Airlines', 'full_service', 'WAW PRG', W, 'Amber Points', 'Saver,Standard,Flex'],
  ['Y0', 'Sunquay', 'leisure', 'PMI AYT', null, null, 'Shore,Pier,Lagoon'],
  ['Q0', 'Meltemi Air', 'full_service', 'ATH HER', W, 'Meltemi Miles', 'GoLight,Flex,ComfortFlex'],
  ['D0', 'Danube Skies', 'leisure', 'BUD OTP', null, null, 'Base,Middle,Plus'],
  // North America
  ['L9', 'Liberty Harbor Airlines', 'full_service', 'JFK BOS', M, 'Harbor Rewards', 'Basic,Main,Main Flex'],
  ['N9', 'Lakeshore Airlines', 'full_service', 'ORD EWR', W, 'Lakeshore Miles', 'Saver,Standard,Flexible'],
  ['P9', 'Peachtree Pacific', 'full_service', 'ATL LAX', C, 'Peachtree Points', 'Basic,Classic,Extra'],
  ['R9', 'Lone Star Connect', 'full_service', 'DFW PHL', M, 'Lone Star Rewards', 'Basic,Main,Select'],
  ['T9', 'Continental Divide', 'full_service', 'DEN SFO', W, 'Divide Miles', 'Trail,Ridge,Summit'],
  ['K9', 'Cascadia Air', 'full_service', 'SEA SLC', M, 'Evergreen Miles', 'Saver,Main,Flex'],
  ['H1', 'Roadrunner Air', 'leisure', 'LAS LAX', null, 'Beep Points', 'Bare,Bundle,Best'],
  ['F0', 'Flamingo Jet', 'leisure', 'MCO JFK', null, 'Flamingo Flock', 'Blue,Blush,Bright'],
  ['C0', 'Capitol Air', 'full_service', 'IAD IAH', W, 'Lakeshore Miles', 'Saver,Standard,Flexible'],
  ['A0', 'Everglade Airways', 'full_service', 'MIA CLT', M, 'Lone Star Rewards', 'Basic,Main,Select'],
  ['Q9', 'Great Lakes Northern', 'full_service', 'MSP DTW', C, 'Peachtree Points', 'Basic,Classic,Extra'],
  ['Y2', 'Maplewing', 'full_service', 'YYZ YUL', W, 'Maplewing Plan', 'Basic,Standard,Flex,Latitude'],
  ['Y3', 'Timberline', 'leisure', 'YVR YYC', null, 'Timber Dollars', 'UltraBasic,Econo,EconoFlex'],
  ['Y6', 'Aloha Frigate', 'full_service', 'HNL PPT', M, 'Frigate Miles', 'Main,Main Plus,Open'],
  // Latin America
  ['X2', 'Quetzal Air', 'full_service', 'MEX GDL', C, 'Quetzal Premier', 'Básica,Clásica,Flexible'],
  ['H5', 'Isthmus Airlines', 'full_service', 'PTY', W, 'Isthmus Connect', 'Basic,Classic,Full'],
  ['E1', 'Esmeralda Airlines', 'full_service', 'BOG MDE', W, 'Vida Esmeralda', 'XS,S,M,L'],
  ['A1', 'Andes Link', 'full_service', 'SCL LIM', M, 'Andes Pass', 'Basic,Light,Plus,Top'],
  ['G1', 'Ipanema Airways', 'full_service', 'GRU GIG', C, 'Onda', 'Light,Plus,Max'],
  ['G2', 'Papagaio', 'leisure', 'GRU BSB', null, 'Papagaio Pontos', 'Promo,Mais,Livre'],
  ['F1', 'Pampa Sur', 'full_service', 'EZE AEP', C, 'Pampa Plus', 'Promo,Base,Flex'],
  // Middle East and Central Asia
  ['D1', 'Dune Star Airways', 'full_service', 'DXB AUH', null, 'Dune Star Skies', 'Special,Saver,Flex,Flex Plus'],
  ['O9', 'Pearl Gulf', 'full_service', 'DOH', M, 'Pearl Circle', 'Lite,Classic,Convenience,Comfort'],
  ['C1', 'Najd Air', 'full_service', 'RUH JED', C, 'Najd Fursan', 'Basic,Semi Flex,Full Flex'],
  ['H9', 'Levant Cedar', 'full_service', 'TLV AMM', null, 'Cedar Miles', 'Lite,Classic,Flex'],
  ['Q7', 'Silk Steppe', 'full_service', 'ALA TAS', null, 'Caravan Club', 'Saver,Classic,Flex'],
  // Africa
  ['B5', 'Baobab Airways', 'full_service', 'NBO ADD', C, 'Baobab Roots', 'Lite,Standard,Flex'],
  ['V9', 'Veld Air', 'full_service', 'JNB CPT', W, 'Veld Voyager', 'Lite,Plus,Flex'],
  ['B1', 'Atlas Lantern', 'full_service', 'CMN CAI', M, 'Lantern Flyer', 'Light,Value,Flex'],
  ['W1', 'Harmattan Air', 'full_service', 'LOS ACC', null, 'Harmattan Club', 'Saver,Value,Freedom'],
  // Asia
  ['S0', 'Merlion Wings', 'full_service', 'SIN', W, 'Merlion Miles', 'Lite,Value,Standard,Flexi'],
  ['J6', 'Jade Harbour', 'full_service', 'HKG', M, 'Jade Club', 'Light,Essential,Flex'],
  ['J0', 'Sakura Line', 'full_service', 'HND KIX', M, 'Sakura Mileage', 'Saver,Standard,Flex'],
  ['K0', 'Tancho Airways', 'full_service', 'NRT HND', W, 'Tancho Club', 'Value,Basic,Full Flex'],
  ['J5', 'Kumo Air', 'leisure', 'KIX CTS', null, null, 'Simple,Bag,Max'],
  ['I1', 'Hanbit Air', 'full_service', 'ICN GMP', C, 'Hanbit Pass', 'Saver,Standard,Flex'],
  ['I0', 'Silk Lantern Airlines', 'full_service', 'PVG PEK', C, 'Lantern Miles', 'Basic,Standard,Flex'],
  ['U0', 'Crane Southern', 'full_service', 'CAN CTU', null, 'Crane Pearl', 'Basic,Standard,Flex'],
  ['T0', 'Formosa Kite', 'full_service', 'TPE', C, 'Kite Club', 'Discount,Basic,Standard,Up'],
  ['O0', 'Lotus Siam', 'full_service', 'BKK', W, 'Lotus Orchid', 'Saver,Standard,Flexi'],
  ['U7', 'Hornbill Jet', 'leisure', 'KUL CGK', null, 'Hornbill Big', 'Low Fare,Value Pack,Premium Flex'],
  ['E3', 'Mayon Air', 'full_service', 'MNL CEB', null, 'Mayon Mabuhay', 'Supersaver,Value,Flex'],
  ['V6', 'Mekong Star', 'full_service', 'SGN HAN', C, 'Star of Mekong', 'Super Lite,Classic,Flex'],
  ['M1', 'Monsoon Airways', 'full_service', 'DEL BOM', W, 'Monsoon Returns', 'Value,Classic,Flex'],
  ['I8', 'Marigold Air', 'leisure', 'BLR DEL', null, null, 'Saver,Flexi,Super'],
  // Oceania
  ['W0', 'Wattle Air', 'full_service', 'SYD MEL', M, 'Wattle Frequent Flyer', 'Deal,Saver,Flex'],
  ['A7', 'Banksia Airlines', 'full_service', 'BNE PER', C, 'Banksia Velo', 'Lite,Choice,Flex'],
  ['C9', 'Cockatoo', 'leisure', 'MEL SYD', null, null, 'Starter,Plus,Max'],
  ['Z9', 'Kea Pacific', 'full_service', 'AKL CHC', W, 'Kea Points', 'Seat,Seat + Bag,Works'],
  ['R4', 'Coral Coast Airways', 'full_service', 'BNE SYD', W, 'Coral Club', 'Lite,Choice,Flex'],
];

/** Reads the table. Once per world: nothing is computed on import. */
export const readAirlines = (): Airline[] =>
  AIRLINE_TABLE.map(([code, name, kind, hubs, alliance, programme, brands], index) => ({
    index,
    code,
    name,
    kind,
    hubs: hubs === '' ? [] : hubs.split(' '),
    alliance,
    programme,
    brands: brands.split(','),
  }));

/** Position of the airline that serves what no other would. */
export const SHUTTLE = 0;
