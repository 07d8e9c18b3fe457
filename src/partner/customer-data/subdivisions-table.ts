const codes = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/**
 * ISO 3166-2: the codes of states and provinces, without the country in front, by alpha-3 country. The countries whose
 * addresses are written with them, or that partners are for; of India with the codes from before 2023 too. Of other
 * countries only the form is checked.
 */
export const SUBDIVISIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  ARG: codes('A B C D E F G H J K L M N P Q R S T U V W X Y Z'),
  AUS: codes('ACT NSW NT QLD SA TAS VIC WA'),
  AUT: codes('1 2 3 4 5 6 7 8 9'),
  BRA: codes('AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO'),
  CAN: codes('AB BC MB NB NL NS NT NU ON PE QC SK YT'),
  CHE: codes('AG AI AR BE BL BS FR GE GL GR JU LU NE NW OW SG SH SO SZ TG TI UR VD VS ZG ZH'),
  COL: codes(
    'AMA ANT ARA ATL BOL BOY CAL CAQ CAS CAU CES CHO COR CUN DC GUA GUV HUI LAG MAG MET NAR NSA PUT QUI RIS SAN SAP ' +
      'SUC TOL VAC VAU VID',
  ),
  DEU: codes('BB BE BW BY HB HE HH MV NI NW RP SH SL SN ST TH'),
  IND: codes(
    'AN AP AR AS BR CG CH CT DD DH DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TG TN TR ' +
      'TS UK UP UT WB',
  ),
  JPN: new Set(Array.from({ length: 47 }, (_, index) => String(index + 1).padStart(2, '0'))),
  MEX: codes(
    'AGU BCN BCS CAM CHH CHP CMX COA COL DUR GRO GUA HID JAL MEX MIC MOR NAY NLE OAX PUE QUE ROO SIN SLP SON TAB TAM ' +
      'TLA VER YUC ZAC',
  ),
  NGA: codes(
    'AB AD AK AN BA BE BO BY CR DE EB ED EK EN FC GO IM JI KD KE KN KO KT KW LA NA NI OG ON OS OY PL RI SO TA YO ZA',
  ),
  USA: codes(
    'AK AL AR AS AZ CA CO CT DC DE FL GA GU HI IA ID IL IN KS KY LA MA MD ME MI MN MO MP MS MT NC ND NE NH NJ NM NV ' +
      'NY OH OK OR PA PR RI SC SD TN TX UM UT VA VI VT WA WI WV WY',
  ),
};
