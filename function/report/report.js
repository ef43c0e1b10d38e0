// What the page does with the data blocks before it. Everything that comes out of an archive gets into the page as text or as the value
// of a property, never as markup.
'use strict';
(async () => {

// --- Elements ---------------------------------------------------------------------------------------------------------------------

const $ = (id) => document.getElementById(id);

// el('div.row', {title: 'x', onclick: f}, child, ...): children are nodes or text; null and false are left out.
function el(name, properties, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (key.startsWith('on')) element[key] = value;
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ''));
  return element;
}

function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', `icon ${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

// At most `limit` of the items, and a button for the others: no event makes the page grow without being asked.
function some(items, limit, make) {
  const elements = items.slice(0, limit).map(make);
  const left = items.length - elements.length;
  if (left <= 0) return elements;
  const more = el('button.more', {type: 'button'}, `${Math.min(left, limit)} more of ${left.toLocaleString('en')}`);
  more.onclick = () => more.replaceWith(...some(items.slice(limit), limit, make));
  return [...elements, more];
}

// --- Data -------------------------------------------------------------------------------------------------------------------------

const blocks = (name) => [...document.querySelectorAll(`script.${name}`)];
const read = (block) => JSON.parse(block.textContent);

const head = read(blocks('head')[0]);
const summary = read(blocks('summary')[0]);
const episodeBlocks = blocks('episodes');
const lanes = ['Kro', 'AccessRequest', 'OCIRepository', 'HelmRelease'];
const outcomes = ['Done', 'Waiting', 'Retry', 'Rejected'];

// Lets the browser do something else, so that it can be used meanwhile.
const pause = () => new Promise((done) => setTimeout(done));

// Every event, with `t`, its place on the axis: milliseconds, never before an earlier event's; or its number, where times say nothing.
const rows = [];
await readRows();
const lastTime = setTimes();
const timed = rows.length > 0 && rows[0].t < lastTime;
if (!timed) rows.forEach((row) => { row.t = row.i; });

// Piece by piece.
async function readRows() {
  let began = performance.now();
  for (const [b, block] of blocks('rows').entries()) {
    if (performance.now() - began > 40) {
      $('verdict').textContent = `Reading ${summary.events.toLocaleString('en')} events …`;
      await pause();
      began = performance.now();
    }
    for (const [at, row] of read(block).entries()) rows.push(Object.assign(row, {i: rows.length, block: b, at}));
  }
  $('verdict').textContent = '';
}

function setTimes() {
  let clock = NaN;
  for (const row of rows) {
    const own = Date.parse(row.time ?? '');
    if (!(clock >= own) && !Number.isNaN(own)) clock = own;
    row.t = clock;
  }
  const first = rows.find((row) => !Number.isNaN(row.t))?.t;
  for (const row of rows) if (Number.isNaN(row.t)) row.t = first;
  return clock;
}

const begin = rows[0]?.t ?? 0;
const end = rows.at(-1)?.t ?? 0;
const margin = Math.max((end - begin) * 0.015, timed ? 1 : 0.5);
const wholeTime = [begin - margin, end + margin];

const kindOf = (row) => (row.object ?? '').split(' ')[0];
const isFailed = (row) => row.outcome === 'Retry' || row.outcome === 'Rejected' || row.answer >= 400 || (row.parts ?? []).some((part) => part.failed);
const titleOf = (row) => (row.object ? `${row.change ?? ''} ${row.object}`.trim() : (row.type || row.id));

function textOf(row) {
  row.text ??= [row.id, row.object, row.change, row.type, row.whom, row.why, row.recorded && `not as recorded: ${row.recorded}`, row.where,
    ...(row.parts ?? []).flatMap((part) => [part.tenant, part.message])].join('\n').toLowerCase();
  return row.text;
}

let episodesOf = {block: -1, list: []};
function episodeOf(row) {
  if (episodesOf.block !== row.block) episodesOf = {block: row.block, list: read(episodeBlocks[row.block])};
  return episodesOf.list[row.at];
}

// --- Tenants ----------------------------------------------------------------------------------------------------------------------

const severity = ['error', 'terminating', 'progressing', 'ready', 'none'];

function stateOf(phase, reason) {
  if (!phase) return 'none';
  if (reason === 'ReconcileError') return 'error';
  return phase === 'Ready' ? 'ready' : phase === 'Terminating' ? 'terminating' : phase === 'Failed' ? 'error' : 'progressing';
}

const tenants = readTenants();

// A tenant's history has the events with a part about it, and those that were for it but led to nothing (an echo of a write): `part` is null.
function readTenants() {
  const byName = new Map((summary.tenants ?? []).map((tenant) => [tenant.tenant, {...tenant, history: []}]));
  for (const row of rows) {
    for (const part of row.parts ?? []) {
      if (!part.tenant) continue;
      if (!byName.has(part.tenant)) byName.set(part.tenant, {tenant: part.tenant, events: 0, writes: 0, history: []});
      byName.get(part.tenant).history.push({row, part});
    }
    if (!row.parts) byName.get(row.whom)?.history.push({row, part: null});
  }
  for (const tenant of byName.values()) {
    const last = tenant.history.findLast((entry) => entry.part?.phase)?.part;
    tenant.reason = last?.phase === tenant.phase ? last?.reason : '';
    tenant.words = tenant.phase && tenant.phase !== 'Ready' ? Object.entries(last?.words ?? {}) : [];
    tenant.state = stateOf(tenant.phase, tenant.reason);
    tenant.from = Date.parse(tenant.since ?? '');
  }
  return [...byName.values()].sort(byUrgency);
}

// Those that are stuck come first, and among them the one that has been so for longest.
function byUrgency(left, right) {
  const rank = (tenant) => (tenant.state === 'ready' ? 1 : tenant.state === 'none' ? 2 : 0);
  return rank(left) - rank(right) || (rank(left) === 0 ? (left.from || Infinity) - (right.from || Infinity) : 0) ||
    severity.indexOf(left.state) - severity.indexOf(right.state) || (left.tenant < right.tenant ? -1 : 1);
}

// What a tenant's status said when: [{from, to, state, label, about}]. The first one began when its condition says, in whole seconds.
function statusSpans(tenant) {
  const spans = [];
  let open = null;
  const close = (at) => { if (open) spans.push({...open, to: at}); };
  for (const {row, part} of tenant.history) {
    const gone = row.change === 'deleted' && kindOf(row) === 'Kro';
    if (!part?.phase) {
      if (!gone && (!part || part.failed || part.outcome === 'Retry')) continue;
      close(row.t);
      open = null;
      continue;
    }
    const state = stateOf(part.phase, part.reason);
    if (open?.state === state && open.about === part.message) continue;
    const since = timed && !spans.length && !open ? Date.parse(part.since ?? '') : NaN;
    close(row.t);
    open = {from: since + 1000 <= row.t ? since : row.t, state, label: state === 'error' ? `${part.phase}, error` : part.phase, about: part.message ?? ''};
  }
  close(wholeTime[1]);
  return spans;
}

// When an object was there, and what the tenant's status said of it.
function objectSpans(tenant, kind) {
  const spans = [];
  let open = null;
  const close = (at) => { if (open) spans.push({...open, to: at}); };
  for (const {row, part} of tenant.history) {
    let found = part?.objects?.[kind];
    if (row.change === 'deleted' && kindOf(row) === kind && found !== 'present') found = 'absent';
    if (!found) continue;
    const state = found === 'present' ? found : found === 'deleted' ? 'terminating' : found === 'absent' ? 'none' : stateOf(found);
    if ((open?.state ?? 'none') === state) continue;
    close(row.t);
    open = state === 'none' ? null : {from: row.t, state, label: '', about: `${kind}: ${found}`};
  }
  close(wholeTime[1]);
  return spans;
}

// --- Time -------------------------------------------------------------------------------------------------------------------------

const severalDays = timed && new Date(begin).toISOString().slice(0, 10) !== new Date(end).toISOString().slice(0, 10);

function wallText(t, digits = 19) {
  const text = new Date(t).toISOString();
  return (severalDays ? `${text.slice(5, 10)} ` : '') + text.slice(11, digits);
}

const clockText = (t, digits) => (timed ? wallText(t, digits) : `#${Math.round(t) + 1}`);

function durationText(ms) {
  const units = [[86400000, 'd'], [3600000, 'h'], [60000, 'min'], [1000, 's']];
  const at = units.findIndex(([size]) => ms >= size);
  if (at < 0) return `${Math.round(ms)} ms`;
  const [size, unit] = units[at];
  const next = units[at + 1];
  if (!next) return ms < 10000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
  const rest = Math.floor((ms % size) / next[0]);
  return `${Math.floor(ms / size)} ${unit}` + (rest ? ` ${rest} ${next[1]}` : '');
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5,
  864e5, 1728e5, 6048e5];

function tickStep(width, ticks) {
  if (!timed) return steps.find((step) => width / step <= ticks) ?? width;
  return steps.find((step) => width / step <= ticks) ?? Math.ceil(width / ticks / 864e5) * 864e5;
}

function tickText(t, step) {
  if (!timed) return `#${t + 1}`;
  const text = new Date(t).toISOString();
  if (step >= 864e5) return text.slice(5, 10);
  return (severalDays && t % 864e5 === 0) ? text.slice(5, 10) : text.slice(11, step >= 6e4 ? 16 : step >= 1e3 ? 19 : 23);
}

// --- A list of any length, of which only what can be seen is in the page ----------------------------------------------------------

const printLimit = 300;

class LongList {
  // `scroller`: the element that scrolls, or null for the window; `make(item, place)`: the element of an item, `height()` pixels high unless
  // it is open, which may change with the window; `inset()`: how much of the top is covered.
  constructor(box, {scroller, height, make, inset = () => 0}) {
    Object.assign(this, {box, scroller, heightNow: height, make, inset, items: [], open: new Set(), extra: new Map(), nodes: new Map(), kept: null,
      printing: false});
    this.sizes = new ResizeObserver((entries) => this.measure(entries));
    (scroller ?? window).addEventListener('scroll', () => this.later(), {passive: true});
    window.addEventListener('resize', () => this.later());
  }

  get height() { return this.heightNow(); }

  show(items) {
    this.items = items;
    this.place = new Map(items.map((item, i) => [item, i]));
    this.refresh();
  }

  // Makes every element anew.
  refresh() {
    for (const node of this.nodes.values()) node.remove();
    this.nodes.clear();
    this.sizes.disconnect();
    this.render();
  }

  toggle(item, open = !this.open.has(item)) {
    if (open) this.open.add(item);
    else this.open.delete(item);
    if (!open) this.extra.delete(item);
    this.redo(item);
  }

  redo(item) {
    const focused = this.nodes.get(item)?.contains(document.activeElement);
    this.nodes.get(item)?.remove();
    this.nodes.delete(item);
    this.render();
    if (focused) this.focus(item);
  }

  focus(item) {
    this.nodes.get(item)?.querySelector('button')?.focus({preventScroll: true});
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.render();
    });
  }

  measure(entries) {
    let changed = false;
    for (const {target} of entries) {
      const extra = target.offsetHeight - this.height;
      if (!target.isConnected || this.extra.get(target.item) === extra) continue;
      this.extra.set(target.item, extra);
      changed = true;
    }
    if (changed) this.render();
  }

  // The open items that are shown, with the sum of what they are higher than others up to each.
  sums() {
    const opened = [...this.open].map((item) => [this.place.get(item), this.extra.get(item) ?? 0]).filter(([at]) => at !== undefined);
    opened.sort(([left], [right]) => left - right);
    let sum = 0;
    return opened.map(([at, extra]) => [at, sum += extra]);
  }

  topOf(place, sums = this.sums()) {
    return place * this.height + (sums.findLast(([at]) => at < place)?.[1] ?? 0);
  }

  placeAt(y, sums) {
    let low = 0;
    let high = Math.max(this.items.length - 1, 0);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.topOf(middle, sums) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  view() {
    const box = this.box.getBoundingClientRect();
    const view = this.scroller?.getBoundingClientRect() ?? {top: 0, bottom: window.innerHeight};
    return [view.top - box.top, view.bottom - box.top];
  }

  render() {
    const sums = this.sums();
    const wanted = new Set();
    if (this.printing) {
      this.items.slice(0, printLimit).forEach((item) => wanted.add(item));
    } else {
      const [top, bottom] = this.view();
      const last = Math.min(this.placeAt(Math.max(bottom, 0) + 200, sums) + 1, this.items.length);
      for (let i = this.placeAt(Math.max(top, 0) - 200, sums); i < last; ++i) wanted.add(this.items[i]);
      if (this.place?.has(this.kept)) wanted.add(this.kept);
    }
    for (const [item, node] of this.nodes) {
      if (wanted.has(item)) continue;
      this.sizes.unobserve(node);
      node.remove();
      this.nodes.delete(item);
    }
    const inOrder = [...wanted].sort((left, right) => this.place.get(left) - this.place.get(right));
    let before = null;
    for (const item of inOrder) {
      const node = this.nodes.get(item) ?? this.add(item);
      node.style.transform = this.printing ? '' : `translateY(${this.topOf(this.place.get(item), sums)}px)`;
      // Tab and screen readers go by the order in the page.
      const next = before ? before.nextSibling : this.box.firstChild;
      if (node !== next) this.box.insertBefore(node, next);
      before = node;
    }
    this.box.style.height = this.printing ? '' : `${this.topOf(this.items.length, sums)}px`;
  }

  add(item) {
    const node = this.make(item, this.place.get(item));
    node.item = item;
    node.classList.add('item');
    node.setAttribute('role', 'listitem');
    node.setAttribute('aria-posinset', this.place.get(item) + 1);
    node.setAttribute('aria-setsize', this.items.length);
    this.nodes.set(item, node);
    this.box.append(node);
    if (this.open.has(item)) this.sizes.observe(node);
    return node;
  }

  scrollTo(item) {
    const place = this.place?.get(item);
    if (place === undefined) return;
    const [top, bottom] = this.view();
    const at = this.topOf(place);
    const room = Math.min(this.height + (this.open.has(item) ? this.extra.get(item) ?? 320 : 0), bottom - top - this.inset());
    const by = at - this.inset() < top ? at - this.inset() - top : at + room > bottom ? at + room - bottom : 0;
    if (by) (this.scroller ?? window).scrollBy({top: by, behavior: 'instant'});
    this.render();
  }

  print(printing) {
    this.printing = printing;
    this.refresh();
    const left = this.items.length - printLimit;
    this.box.nextElementSibling?.classList.contains('rest') && this.box.nextElementSibling.remove();
    if (printing && left > 0) this.box.after(el('p.rest', {}, `… and ${left.toLocaleString('en')} more: filters say what is printed.`));
  }
}

// --- Filters ----------------------------------------------------------------------------------------------------------------------

const filters = {search: '', tenant: '', outcome: '', kind: '', writes: false, errors: false};
let range = null;
let shown = rows;

const domain = () => range ?? wholeTime;

function matching() {
  const words = filters.search.toLowerCase().split(/\s+/).filter(Boolean);
  const tenant = filters.tenant.toLowerCase();
  const exact = tenants.some((one) => one.tenant === filters.tenant);
  const isAbout = (name) => (exact ? name === filters.tenant : name.toLowerCase().includes(tenant));
  return rows.filter((row) =>
    (!range || (row.t >= range[0] && row.t <= range[1])) &&
    (!filters.outcome || row.outcome === filters.outcome) &&
    (!filters.kind || kindOf(row) === filters.kind || (filters.kind === 'none' && !row.object)) &&
    (!filters.writes || row.writes > 0) && (!filters.errors || isFailed(row)) &&
    (!tenant || isAbout(row.whom ?? '') || (row.parts ?? []).some((part) => isAbout(part.tenant))) &&
    words.every((word) => textOf(row).includes(word)));
}

function matchingTenants() {
  const wanted = filters.tenant.toLowerCase();
  return wanted ? tenants.filter((tenant) => tenant.tenant.toLowerCase().includes(wanted)) : tenants;
}

function setFilters(change) {
  Object.assign(filters, change);
  for (const id of ['search', 'tenant', 'outcome', 'kind']) $(id).value = filters[id];
  for (const id of ['writes', 'errors']) $(id).checked = filters[id];
  apply();
}

const noFilters = {search: '', tenant: '', outcome: '', kind: '', writes: false, errors: false};
const isFiltered = () => range !== null || Object.values(filters).some(Boolean);

function apply() {
  shown = matching();
  if (active && !shown.includes(active)) active = null;
  eventList.kept = active ?? shown[0];
  eventList.show(shown);
  tenantList.show(matchingTenants());
  $('count').textContent = shown.length === rows.length ? plural(rows.length, 'event') :
    `${shown.length.toLocaleString('en')} of ${plural(rows.length, 'event')}`;
  $('nothing').hidden = shown.length > 0;
  $('clear').disabled = !isFiltered();
  showAxis();
  writeHash();
}

function setRange(from, to) {
  const least = timed ? 1 : 2;
  const a = Math.max(wholeTime[0], from);
  const b = Math.min(wholeTime[1], Math.max(to, from + least));
  range = a <= wholeTime[0] && b >= wholeTime[1] ? null : [a, b];
  apply();
}

function zoom(factor) {
  const [a, b] = domain();
  const middle = active && active.t >= a && active.t <= b ? active.t : (a + b) / 2;
  setRange(middle - (middle - a) * factor, middle + (b - middle) * factor);
}

function clearAll() {
  range = null;
  setFilters(noFilters);
}

// --- Timelines --------------------------------------------------------------------------------------------------------------------

const binCount = 160;
const leastWidth = 0.35;
const percentOf = (t) => { const [a, b] = domain(); return ((t - a) / (b - a)) * 100; };

// Spans that are too narrow to be told apart are drawn as one, in the colour of the worst of them.
function drawSpans(spans, labelled) {
  const drawn = [];
  for (const span of spans) {
    const from = Math.max(percentOf(span.from), 0);
    const to = Math.min(percentOf(span.to), 100);
    if (to <= 0 || from >= 100) continue;
    const last = drawn.at(-1);
    if (last && to - from < leastWidth && last.to - last.from < leastWidth * 2 && from - last.to < leastWidth) {
      last.to = to;
      last.state = severity.find((state) => state === last.state || state === span.state) ?? span.state;
      last.about = 'several';
    } else {
      drawn.push({...span, from, to});
    }
  }
  return drawn.map((span) => {
    const title = [span.label, span.about, timed && `${clockText(domainTime(span.from))} – ${clockText(domainTime(span.to))}`].filter(Boolean).join('\n');
    const bar = el(`i.span.${span.state}`, {title}, labelled && span.to - span.from > 9 ? span.label : null);
    bar.style.left = `${span.from}%`;
    bar.style.width = `${Math.max(span.to - span.from, 0.3)}%`;
    return bar;
  });
}

function domainTime(percent) {
  const [a, b] = domain();
  return a + ((b - a) * percent) / 100;
}

// One mark for all that happened within a bin; a click goes to the first event of it.
function drawMarks(entries) {
  const bins = new Map();
  for (const {row, event, write, failed} of entries) {
    const at = percentOf(row.t);
    if (at < 0 || at > 100) continue;
    const bin = Math.min(Math.floor((at / 100) * binCount), binCount - 1);
    const mark = bins.get(bin) ?? {at, row, events: 0, writes: 0, failed: 0};
    bins.set(bin, mark);
    mark.events += event ? 1 : 0;
    mark.writes += write ?? 0;
    mark.failed += failed ? 1 : 0;
  }
  return [...bins.values()].map((mark) => {
    const title = [clockText(mark.row.t, 23), titleOf(mark.row), mark.events > 1 && plural(mark.events, 'event'),
      mark.writes && plural(mark.writes, 'write'), mark.failed && `${mark.failed} failed`].filter(Boolean).join('\n');
    const element = el(`i.mark${mark.events ? '.came' : ''}${mark.writes ? '.wrote' : ''}${mark.failed ? '.failed' : ''}`, {title});
    element.style.left = `${mark.at}%`;
    element.row = mark.row;
    return element;
  });
}

function laneEntries(tenant, kind) {
  return tenant.history.map(({row, part}) => ({
    row,
    event: kind === 'Other events' ? !lanes.includes(kindOf(row)) : kindOf(row) === kind,
    write: (part?.wrote ?? []).filter((wrote) => wrote === kind).length,
  })).filter((entry) => entry.event || entry.write);
}

function lane(tenant, kind) {
  const entries = laneEntries(tenant, kind);
  const events = entries.filter((entry) => entry.event).length;
  const writes = entries.reduce((sum, entry) => sum + entry.write, 0);
  const counts = [events && plural(events, 'event'), writes && plural(writes, 'write')].filter(Boolean).join(', ');
  return el('div.lane', {}, el('div.lane-name', {}, el('span', {}, kind), el('small', {}, counts)),
    el('div.track', {role: 'img', 'aria-label': `${kind}: ${counts || 'nothing happened'}`},
      kind === 'Other events' ? [] : drawSpans(objectSpans(tenant, kind)), drawMarks(entries)));
}

function sinceText(tenant) {
  if (Number.isNaN(tenant.from) || tenant.state === 'none') return '';
  const text = new Date(tenant.from).toISOString();
  const today = lastTime > 0 && text.slice(0, 10) === new Date(lastTime).toISOString().slice(0, 10);
  return `since ${today ? text.slice(11, 19) : text.slice(0, 16).replace('T', ' ')}`;
}

const lastedText = (tenant) => (tenant.state !== 'none' && tenant.from <= lastTime ? durationText(lastTime - tenant.from) : '');
const stateText = (tenant) => (tenant.state === 'none' ? 'Gone' : tenant.state === 'error' ? `${tenant.phase}, error` : tenant.phase);
const stateIcon = {ready: 'done', progressing: 'waiting', error: 'error', terminating: 'terminating', none: 'none'};

function tenantItem(tenant) {
  const open = tenantList.open.has(tenant);
  const failures = tenant.history.filter(({part}) => part?.failed || part?.outcome === 'Retry').map(({row}) => ({row, failed: true}));
  const button = el('button.tenant', {type: 'button', 'aria-expanded': String(open), onclick: () => tenantList.toggle(tenant)},
    icon('open'), icon(stateIcon[tenant.state]),
    el('span.what', {}, el('b', {}, tenant.tenant), el(`span.state.${tenant.state}`, {}, stateText(tenant)),
      el('span.lasted', {}, lastedText(tenant))),
    el('span.more-of-it', {}, [sinceText(tenant), !open && tenant.state !== 'ready' && (tenant.words[0]?.join(': ') ?? tenant.message)].filter(Boolean).join(' · ')));
  const track = el('div.track', {role: 'img', 'aria-label': `status of ${tenant.tenant}`}, drawSpans(statusSpans(tenant), true), drawMarks(failures));
  return el(`div.tenant-item${open ? '.open' : ''}`, {}, el('div.lane.status', {}, button, track), open && lanesOf(tenant));
}

function lanesOf(tenant) {
  const last = tenant.history.at(-1)?.row;
  const others = laneEntries(tenant, 'Other events').length > 0;
  return el('div.lanes', {}, el('div.about', {}, el('div', {}, el('p', {}, tenant.message || 'There is no status any more.'),
    tenant.words.map(([kind, text]) => el('p', {}, el('b', {}, kind), `: ${text}`))),
    el('button', {type: 'button', onclick: () => setFilters({...noFilters, tenant: tenant.tenant})}, 'Only its events'),
    last && el('button', {type: 'button', onclick: () => goTo(last)}, 'Its last event')),
  lanes.map((kind) => lane(tenant, kind)), others && lane(tenant, 'Other events'));
}

function showAxis() {
  const [a, b] = domain();
  const step = tickStep(b - a, Math.max(2, Math.floor($('axis').clientWidth / 90)));
  const first = Math.ceil(a / step) * step;
  const ticks = [];
  for (let t = first; t <= b; t += step) {
    const tick = el('span.tick', {}, tickText(t, step));
    tick.style.left = `${percentOf(t)}%`;
    if (percentOf(t) < 94) ticks.push(tick);
  }
  const box = $('tenants');
  box.style.setProperty('--first', `${percentOf(first)}%`);
  box.style.setProperty('--step', `${(step / (b - a)) * 100}%`);
  box.style.setProperty('--cursor', active ? `${percentOf(active.t)}%` : '-9px');
  $('axis').replaceChildren(...histogram(), ...ticks);
  $('range').textContent = range && timed ? `${clockText(a, b - a < 1e4 ? 23 : 19)} – ${clockText(b, b - a < 1e4 ? 23 : 19)}` : range ? `${clockText(a)} – ${clockText(b)}` : '';
  $('zoom-all').disabled = $('zoom-out').disabled = range === null;
}

// How many of the events that are listed came when, and how many of them went wrong.
function histogram() {
  const bins = Array.from({length: binCount / 2}, () => [0, 0]);
  for (const row of shown) {
    const bin = Math.floor((percentOf(row.t) / 100) * bins.length);
    if (bin < 0 || bin >= bins.length) continue;
    bins[bin][0] += 1;
    bins[bin][1] += isFailed(row) ? 1 : 0;
  }
  const most = Math.max(...bins.map(([all]) => all), 1);
  return bins.flatMap(([all, failed], i) => {
    if (!all) return [];
    const bar = el('i.count', {title: plural(all, 'event') + (failed ? `, ${failed} went wrong` : '')}, failed ? el('i.failed') : null);
    bar.style.left = `${(i / bins.length) * 100}%`;
    bar.style.width = `${100 / bins.length}%`;
    bar.style.height = `${8 + 92 * Math.sqrt(all / most)}%`;
    if (failed) bar.firstChild.style.height = `${Math.max((failed / all) * 100, 25)}%`;
    return [bar];
  });
}

// --- Events -----------------------------------------------------------------------------------------------------------------------

let active = null;

function ownTime(row) {
  const t = Date.parse(row.time ?? '');
  return Number.isNaN(t) ? `#${row.i + 1}` : wallText(t, 23);
}

function eventItem(row) {
  const open = eventList.open.has(row);
  const button = el('button.row', {
    type: 'button', 'aria-expanded': String(open), tabindex: eventList.kept === row ? '0' : '-1',
    onclick: () => { activate(row); eventList.toggle(row); },
  }, icon('open'), el('span.time', {title: row.time}, ownTime(row)),
  el(`span.outcome.${row.outcome}`, {}, icon(row.outcome.toLowerCase()), row.outcome),
  el('span.title', {title: titleOf(row)}, row.change && row.object ? [el(`span.change.${row.change}`, {}, row.change), ' ', row.object] : titleOf(row)),
  el('span.whom', {title: row.whom}, row.whom),
  el('span.why', {title: row.why}, row.why),
  el('span.number.requests', {}, String(row.requests)), el(`span.number.writes${row.writes ? '' : '.nil'}`, {}, String(row.writes)),
  el(`span.number.answer${row.answer >= 400 ? '.bad' : ''}`, {}, String(row.answer)));
  return el(`div.event${active === row ? '.active' : ''}${isFailed(row) ? '.went-wrong' : ''}${row.recorded ? '.differs' : ''}${row.requests ? '' : '.idle'}`, {}, button, open && details(row));
}

function activate(row) {
  const before = [active, eventList.kept];
  active = eventList.kept = row;
  for (const item of new Set([...before, row])) {
    const node = eventList.nodes.get(item);
    node?.classList.toggle('active', item === row);
    node?.querySelector('button.row')?.setAttribute('tabindex', item === row ? '0' : '-1');
  }
  $('tenants').style.setProperty('--cursor', `${percentOf(row.t)}%`);
  writeHash();
}

// Shows an event, whatever the filters say.
function goTo(row, open = true) {
  if (!shown.includes(row)) clearAll();
  activate(row);
  if (open && !eventList.open.has(row)) eventList.toggle(row, true);
  eventList.scrollTo(row);
  eventList.scrollTo(row);
  eventList.focus(row);
}

function move(by) {
  if (!shown.length) return;
  const at = active ? shown.indexOf(active) : -1;
  const to = Math.min(Math.max(at + by, 0), shown.length - 1);
  activate(shown[to]);
  eventList.scrollTo(shown[to]);
  eventList.focus(shown[to]);
}

function details(row) {
  const episode = episodeOf(row);
  const nth = rows.filter((other) => other.id === row.id && other.i < row.i).length;
  const link = `#${new URLSearchParams({event: row.id, ...(nth ? {nth: nth + 1} : {})})}`;
  const facts = [['Event', el('a', {href: link, title: 'link to this event'}, episode.id)], ['Type', episode.type], ['Source', episode.source],
    ['Time', episode.time], ['Read from', episode.where], ['Routed to', [episode.whom, episode.routed].filter(Boolean).join(': ')],
    ['Recorded', row.recorded && [icon('error'), ` ${row.recorded}`]],
    ['Answer', `${row.answer}, ${plural(row.requests, 'request')}, ${plural(row.writes, 'write')}`],
    ['Outcome', outcomeText(episode.outcome)]].filter(([, value]) => value);
  return el('div.details', {}, el('dl.facts', {}, facts.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
    some(episode.parts ?? [], 20, (part) => partOf(part, (episode.parts ?? []).length > 1)));
}

const outcomeText = (outcome) => [outcome?.kind, outcome?.why].filter(Boolean).join(': ');

function partOf(part, several) {
  return el('section.part', {'aria-label': part.tenant}, several && part.tenant && el('h3', {}, part.tenant, el('small', {}, outcomeText(part.outcome))),
    el('ol.rounds', {}, (part.rounds ?? []).map(round)), statusOf(part));
}

function round(one) {
  const looks = one.looks ?? [];
  const changes = one.changes ?? [];
  return el('li', {}, looks.length > 0 && el('div.looks', {}, el('h4', {}, 'Looked at'), el('ul', {}, some(looks, 50, look))),
    changes.length > 0 && el('div.changes', {}, el('h4', {}, 'Wrote'), some(changes, 20, change)));
}

function look(one) {
  const state = one.failed ? 'error' : one.found === 'absent' ? 'none' : 'done';
  return el(`li.look${one.failed ? '.failed' : ''}`, {}, icon(state), el('b', {}, one.subject), el('span.found', {}, one.found),
    el('small.cluster', {}, one.cluster));
}

function change(one) {
  const differences = one.differences ?? [];
  const title = [icon(one.error ? 'error' : 'open'), el('b', {}, one.subject), el('span.reason', {}, one.why),
    el('small.cluster', {}, one.cluster), el('small', {}, differences.length ? plural(differences.length, 'field') : 'no difference')];
  return el(`details.change${one.error ? '.failed' : ''}`, {open: differences.length <= 12}, el('summary', {}, title),
    el('code.request', {}, one.request), one.error && el('p.failure', {}, one.error), differences.length > 0 && diff(differences));
}

function diff(differences) {
  return el('table.diff', {}, el('thead', {}, el('tr', {}, ['field', 'before', 'after'].map((name) => el('th', {scope: 'col'}, name)))),
    el('tbody', {}, some(differences, 100, difference).map((row) => (row.tagName === 'BUTTON' ? el('tr', {}, el('td', {colspan: 3}, row)) : row))));
}

function difference(one) {
  const before = one.before ?? '';
  const after = one.after ?? '';
  const [start, finish] = before && after ? sameEnds(before, after) : [0, 0];
  const value = (tag, sign, text) => (text ?
    el(tag, {}, el('span.sign', {}, sign), text.slice(0, start), el('mark', {}, text.slice(start, text.length - finish)), text.slice(text.length - finish)) :
    el('span.absent', {}, 'none'));
  return el('tr', {}, el('th', {scope: 'row'}, one.field), el('td', {}, value('del', '−', before)), el('td', {}, value('ins', '+', after)));
}

// How many characters two texts have in common at their beginning and at their end, in whole words.
function sameEnds(left, right) {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) ++start;
  let finish = 0;
  while (finish < most - start && left[left.length - 1 - finish] === right[right.length - 1 - finish]) ++finish;
  const isInside = /[\p{L}\p{N}_\uD800-\uDFFF]/u;
  while (start && isInside.test(left[start - 1])) --start;
  while (finish && isInside.test(left[left.length - finish])) --finish;
  return [start, finish];
}

function statusOf(part) {
  const status = part.status ?? {};
  const ready = (status.conditions ?? []).find((condition) => condition.type === 'Ready');
  const changes = part.changes ?? [];
  if (!status.phase && !changes.length) return null;
  return el('div.status-after', {}, el('h4', {}, 'Status'),
    status.phase ? el('p', {}, el(`span.state.${stateOf(status.phase, ready?.reason)}`, {}, status.phase),
      ready ? ` Ready=${ready.status}, ${ready.reason}: ${ready.message}` : null) : null,
    el('ul', {}, some(status.resources ?? [], 20, (resource) => el('li.look', {}, icon(stateIcon[stateOf(resource.phase)] ?? 'none'),
      el('b', {}, `${resource.kind} ${resource.name}`), el('span.found', {}, [resource.phase, resource.message].filter(Boolean).join(': '))))),
    changes.length > 0 && diff(changes));
}

// --- The address ------------------------------------------------------------------------------------------------------------------

function writeHash() {
  const hash = new URLSearchParams();
  if (active) {
    hash.set('event', active.id);
    const nth = rows.filter((row) => row.id === active.id && row.i < active.i).length;
    if (nth) hash.set('nth', nth + 1);
  }
  for (const [name, value] of Object.entries(filters)) if (value) hash.set(name, value === true ? 'yes' : value);
  if (range) hash.set('range', range.map((t) => t.toFixed(3)).join('~'));
  const text = hash.toString();
  if (text !== location.hash.slice(1)) history.replaceState(null, '', text ? `#${text}` : location.pathname + location.search);
}

function readHash() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const [from, to] = (hash.get('range') ?? '').split('~').map(Number);
  const wanted = hash.get('event');
  const typed = wanted === null ? [] : [wanted, location.hash.slice(1).split('event=')[1]?.split('&')[0]];
  const row = rows.filter((one) => typed.includes(one.id))[Math.max(Number(hash.get('nth') ?? 1) - 1, 0)];
  range = to > from ? [from, to] : null;
  const change = {...noFilters};
  for (const name of ['search', 'tenant', 'outcome', 'kind']) change[name] = hash.get(name) ?? '';
  for (const name of ['writes', 'errors']) change[name] = hash.has(name);
  setFilters(change);
  if (row) goTo(row);
}

// --- The page ---------------------------------------------------------------------------------------------------------------------

const eventList = new LongList($('event-list'), {scroller: null, height: () => 34, make: eventItem, inset: () => $('filters').offsetHeight + 30});
const narrow = matchMedia('(max-width: 900px)');
const tenantList = new LongList($('tenant-list'), {scroller: $('tenants'), height: () => (narrow.matches ? 76 : 48), make: tenantItem, inset: () => $('axis').offsetHeight});

function showHead() {
  document.title = head.title || 'Replay';
  $('title').textContent = document.title;
  const day = (t) => new Date(t).toISOString().replace('T', ' ').slice(0, 19);
  const lasted = timed ? `${day(begin)} – ${severalDays ? day(end) : day(end).slice(11)} UTC (${durationText(end - begin)})` : '';
  $('extent').textContent = [plural(rows.length, 'event'), lasted, (head.archives ?? []).length > 1 && plural(head.archives.length, 'archive')].filter(Boolean).join(' · ');
}

function showVerdict() {
  const living = tenants.filter((tenant) => tenant.state !== 'none');
  const stuck = living.filter((tenant) => tenant.state !== 'ready');
  const box = $('verdict');
  if (!stuck.length) {
    box.append(icon(living.length ? 'done' : 'none'), living.length === 1 ? `${living[0].tenant} is Ready.` :
      living.length ? `All ${plural(living.length, 'tenant')} are Ready.` : 'No tenant is left, or none was there.');
    return;
  }
  const worst = stuck[0];
  const lasted = lastedText(worst);
  box.append(icon(stateIcon[worst.state]),
    `${stuck.length.toLocaleString('en')} of ${plural(living.length, 'tenant')} ${stuck.length === 1 ? 'is not Ready: ' : 'are not Ready. Longest: '}`,
    el('b', {}, worst.tenant), [`, ${sinceText(worst)}`, lasted && ` (${lasted})`].filter((text) => text && text !== ', ').join(''), '.');
}

function showSums() {
  const sum = (count, text, filter) => el('li', {}, filter && count ? el('button', {type: 'button', onclick: () => setFilters({...noFilters, ...filter})}, text) : text);
  const differ = rows.filter((row) => row.recorded).length;
  $('sums').append(...outcomes.filter((name) => summary.outcomes?.[name]).map((name) =>
    sum(summary.outcomes[name], [icon(name.toLowerCase()), `${name} ${summary.outcomes[name].toLocaleString('en')}`], {outcome: name})),
  ...(differ ? [sum(differ, [icon('error'), `${differ.toLocaleString('en')} not as recorded`], {search: 'not as recorded'})] : []),
  sum(0, plural(summary.requests ?? 0, 'request')), sum(summary.writes, plural(summary.writes ?? 0, 'write'), {writes: true}));
}

function showAbout() {
  const list = (title, texts) => (texts?.length ? [el('dt', {}, title), some(texts, 50, (text) => el('dd', {}, text))] : []);
  const notes = [...(head.notes ?? []), ...(summary.notes ?? [])];
  const said = [...(head.archives ?? []), ...(head.options ?? []), ...notes];
  if (summary.complete === false) $('about').append(el('p.banner', {}, icon('error'), 'The replay was ended before its archives were: this is what was done until then.'));
  if (summary.unreadable) {
    $('about').append(el('details.unreadable', {}, el('summary', {}, icon('error'), `${plural(summary.unreadable, 'entry', 'entries')} could not be read`),
      el('dl', {}, some(summary.unreadableEntries ?? [], 50, (entry) => el('div', {}, el('dt', {}, entry.where), el('dd', {}, entry.why))))));
  }
  if (said.length) {
    $('about').append(el('details', {}, el('summary', {}, notes.length ? `Note: ${notes[0]}${notes.length > 1 ? ` (and ${notes.length - 1} more)` : ''}` : 'How this was replayed'),
      el('dl', {}, list('Archives', head.archives), list('Options', head.options), list('Notes', notes))));
  }
}

function fillFilters() {
  const kinds = new Map();
  for (const row of rows) kinds.set(kindOf(row), (kinds.get(kindOf(row)) ?? 0) + 1);
  const option = (value, text) => el('option', {value}, text);
  $('outcome').append(option('', 'Any outcome'), ...outcomes.map((name) => option(name, name)));
  $('kind').append(option('', 'Any kind'), ...[...kinds.keys()].filter(Boolean).sort().map((kind) => option(kind, `${kind} (${kinds.get(kind)})`)),
    ...(kinds.has('') ? [option('none', `no object (${kinds.get('')})`)] : []));
  $('tenant-names').append(...tenants.slice(0, 200).map((tenant) => option(tenant.tenant)));
}

const themes = ['auto', 'light', 'dark'];
function setTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $('theme').textContent = `Theme: ${theme}`;
  try { localStorage.setItem('kro-function.report.theme', theme); } catch { /* a browser may keep nothing for a file */ }
}
function storedTheme() {
  try { return localStorage.getItem('kro-function.report.theme'); } catch { return null; }
}

const keys = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  Home: () => move(-Infinity), End: () => move(Infinity),
  Enter: () => { if (active) eventList.toggle(active); },
  '/': () => { $('search').focus(); $('search').select(); }, '?': () => $('keys').showModal(),
  '+': () => zoom(0.5), '-': () => zoom(2), 0: () => setRange(...wholeTime),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $('keys').open) return;
  const at = event.target;
  const typing = at.matches('input:not([type=checkbox]), select');
  if (event.key === 'Escape') {
    event.preventDefault();
    clearAll();
    if (typing) at.blur();
    return;
  }
  // A control that has the focus takes Enter itself.
  const own = event.key === 'Enter' && at.matches('button, summary, a, input, select');
  if (typing && event.key === 'ArrowDown' && at === $('search')) at.blur();
  else if (typing || own) return;
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function listenToZoom() {
  let from = null;
  const box = $('tenants');
  const band = el('i.band');
  const at = (event) => {
    const track = $('axis').getBoundingClientRect();
    return Math.min(Math.max(((event.clientX - track.left) / track.width) * 100, 0), 100);
  };
  box.addEventListener('pointerdown', (event) => { if (event.button === 0 && event.target.closest('.track')) from = at(event); });
  window.addEventListener('pointermove', (event) => {
    if (from === null || Math.abs(at(event) - from) < 0.7) return;
    if (!band.isConnected) $('axis').append(band);
    band.style.left = `${Math.min(from, at(event))}%`;
    band.style.width = `${Math.abs(at(event) - from)}%`;
  });
  window.addEventListener('pointerup', (event) => {
    const start = from;
    from = null;
    if (start === null || !band.isConnected) return;
    band.remove();
    const [a, b] = [start, at(event)].sort((left, right) => left - right).map(domainTime);
    setRange(a, b);
  });
  box.addEventListener('click', (event) => { if (event.target.row) goTo(event.target.row); });
}

function listen() {
  for (const id of ['search', 'tenant', 'outcome', 'kind']) $(id).addEventListener('input', () => setFilters({[id]: $(id).value}));
  for (const id of ['writes', 'errors']) $(id).addEventListener('change', () => setFilters({[id]: $(id).checked}));
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  $('clear').onclick = clearAll;
  $('zoom-in').onclick = () => zoom(0.5);
  $('zoom-out').onclick = () => zoom(2);
  $('zoom-all').onclick = () => setRange(...wholeTime);
  $('theme').onclick = () => setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme ?? 'auto') + 1) % themes.length]);
  $('keys-button').onclick = () => $('keys').showModal();
  document.addEventListener('keydown', onKey);
  window.addEventListener('hashchange', readHash);
  window.addEventListener('resize', showAxis);
  const print = (printing) => { eventList.print(printing); tenantList.print(printing); };
  matchMedia('print').addEventListener('change', (media) => print(media.matches));
  listenToZoom();
}

setTheme(themes.includes(storedTheme()) ? storedTheme() : 'auto');
showHead();
showVerdict();
showSums();
showAbout();
fillFilters();
await pause();
listen();
if (tenants.length && (tenants.length <= 3 || !['ready', 'none'].includes(tenants[0].state))) tenantList.open.add(tenants[0]);
readHash();
document.body.removeAttribute('aria-busy');

})();
