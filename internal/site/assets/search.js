// Searches the sections of all pages, in the browser. Words match by their beginnings, so that immutable finds immutability.
const stem = (word) => word.length < 5 ? word : word.slice(0, Math.max(4, word.length - 2));
const words = (text) => text.toLowerCase().match(/[a-z0-9]+/g) || [];

// Words of questions that say nothing about the section to find.
const ignored = new Set(words("a about an and any are at be by can could do does each every for from get happen happens has have how i if " +
	"in is it its many me mean means my need needs of on or shall should take takes that the their them then there these they this to use " +
	"used want was we were what when where which who why will with would you your"));

for (const section of sections) {
	section.weights = new Map(); // by the beginning of a word
	const add = (text, weight) => {
		for (const word of words(text)) section.weights.set(word, (section.weights.get(word) || 0) + weight);
	};
	add(section.page, 6);
	if (section.heading !== section.page) add(section.heading, 10);
	add(section.text, 1);
	section.length = words(section.text).length;
	section.phrases = " " + words(section.heading + " " + section.text).join(" ") + " ";
}

// score is high for words in headings, for rare words, for short sections, and where two words follow each other as in the
// query, such as "who changed". It falls steeply with each word that the section lacks.
function score(section, stems, pairs) {
	let sum = 0, had = 0, asked = 0;
	for (const wanted of stems) {
		let weight = 0;
		for (const [word, w] of section.weights) if (word.startsWith(wanted.stem)) weight += w;
		sum += wanted.rarity * weight / (weight + 2 + section.length / 100);
		asked += wanted.rarity;
		if (weight > 0) had += wanted.rarity;
	}
	return sum * (1 + pairs.filter((pair) => section.phrases.includes(pair)).length / 2) * (had / asked) ** 3;
}

// stemsOf returns the beginnings of the words to look for, and how rare they are. If there are only small words, all count.
function stemsOf(query) {
	const telling = words(query).filter((word) => !ignored.has(word));
	return [...new Set((telling.length > 0 ? telling : words(query)).map(stem))].map((beginning) => {
		const having = sections.filter((s) => [...s.weights.keys()].some((w) => w.startsWith(beginning))).length;
		return {stem: beginning, rarity: Math.log(1 + sections.length / (1 + having))};
	});
}

function search(query, stems) {
	if (stems.length === 0) return [];
	const pairs = words(query).slice(1).map((word, i) => " " + words(query)[i] + " " + word + " ");
	return sections.map((section) => ({section, score: score(section, stems, pairs)})).filter((hit) => hit.score > 0)
		.sort((a, b) => b.score - a.score).slice(0, 12).map((hit) => hit.section);
}

// excerpt returns the part of the text that has the most and the rarest of the words, as nodes in which they are marked.
// It begins and ends between words.
function excerpt(text, stems) {
	const parts = text.trim().split(/\s+/);
	const found = parts.map((part) => stems.findIndex((wanted) => words(part).some((word) => word.startsWith(wanted.stem))));
	const size = 26;
	const value = (from) => [...new Set(found.slice(from, from + size))].reduce((sum, i) => i < 0 ? sum : sum + stems[i].rarity, 0);
	let best = 0;
	for (let from = 1; from < parts.length - size + 6; from++) if (value(from) > value(best)) best = from;
	// The first word that matches is mostly at the end of the best part: it moves to the front, if no other is lost.
	const first = found.findIndex((i, at) => at >= best && i >= 0);
	if (best > 0) {
		for (let from = Math.max(best, first - 5); from > best; from--) if (value(from) >= value(best)) best = from;
	}
	const nodes = best > 0 ? ["… "] : [];
	for (let at = best; at < Math.min(best + size, parts.length); at++) {
		const node = found[at] >= 0 ? document.createElement("mark") : "";
		if (node) node.textContent = parts[at];
		nodes.push(node || parts[at], " ");
	}
	if (best + size < parts.length) nodes.push("…");
	return nodes;
}

const query = document.getElementById("query");
const found = document.getElementById("found");
function show() {
	const stems = stemsOf(query.value), hits = search(query.value, stems);
	found.replaceChildren(...hits.map((section) => {
		const link = document.createElement("a");
		link.href = section.url + "#" + section.id; // all pages are in one folder
		link.textContent = section.page === section.heading ? section.page : section.page + ": " + section.heading;
		const text = document.createElement("p");
		text.append(...excerpt(section.text, stems));
		const item = document.createElement("li");
		item.append(link, text);
		return item;
	}));
	if (hits.length === 0 && query.value.trim() !== "") {
		const item = document.createElement("li");
		item.className = "nothing";
		item.textContent = "Nothing found.";
		found.append(item);
	}
	found.hidden = query.value.trim() === "";
}
query.addEventListener("input", show);
query.form.addEventListener("submit", (event) => {
	event.preventDefault();
	found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
	if (event.key === "/" && document.activeElement !== query) {
		event.preventDefault();
		query.focus();
	} else if (event.key === "Escape") {
		query.value = "";
		show();
	}
});
found.addEventListener("click", () => { found.hidden = true; });

const menu = document.getElementById("menu");
if (matchMedia("(max-width: 60rem)").matches) menu.open = false;
// The menu scrolls so far that the open page's entry can be seen, and as many of its headings as fit below.
const current = menu.querySelector("[aria-current]");
if (current) {
	const top = current.getBoundingClientRect().top - menu.getBoundingClientRect().top;
	const hidden = current.parentElement.getBoundingClientRect().bottom - menu.getBoundingClientRect().bottom;
	if (hidden > 0) menu.scrollTop = Math.min(hidden + 16, top - 32);
}

const asked = new URLSearchParams(location.search).get("q");
if (asked) {
	query.value = asked;
	show();
}
