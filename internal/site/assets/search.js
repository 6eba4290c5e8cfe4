// Searches the sections of all pages, in the browser. Words match by their beginnings, so that immutable finds immutability.
const stem = (word) => word.length < 5 ? word : word.slice(0, Math.max(4, word.length - 2));
const words = (text) => text.toLowerCase().match(/[a-z0-9]+/g) || [];

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
// query, such as "who changed". A section that lacks a word has none.
function score(section, stems, pairs) {
	let sum = 0;
	for (const wanted of stems) {
		let weight = 0;
		for (const [word, w] of section.weights) if (word.startsWith(wanted.stem)) weight += w;
		if (weight === 0) return 0;
		sum += wanted.rarity * weight / (weight + 2 + section.length / 100);
	}
	return sum * (1 + pairs.filter((pair) => section.phrases.includes(pair)).length / 2);
}

function search(query) {
	const stems = words(query).filter((word) => !["a", "an", "the", "of", "to", "in", "is", "who", "how", "do", "i"].includes(word)).map((word) => {
		const beginning = stem(word);
		const having = sections.filter((s) => [...s.weights.keys()].some((w) => w.startsWith(beginning))).length;
		return {stem: beginning, rarity: Math.log(1 + sections.length / (1 + having))};
	});
	if (stems.length === 0) return [];
	const pairs = words(query).slice(1).map((word, i) => " " + words(query)[i] + " " + word + " ");
	return sections.map((section) => ({section, score: score(section, stems, pairs)})).filter((hit) => hit.score > 0)
		.sort((a, b) => b.score - a.score).slice(0, 12).map((hit) => hit.section);
}

const query = document.getElementById("query");
const found = document.getElementById("found");
function show() {
	const hits = search(query.value);
	found.replaceChildren(...hits.map((section) => {
		const link = document.createElement("a");
		link.href = section.url + "#" + section.id; // all pages are in one folder
		link.textContent = section.page === section.heading ? section.page : section.page + ": " + section.heading;
		const text = document.createElement("p");
		text.textContent = section.text.trim().slice(0, 160);
		const item = document.createElement("li");
		item.append(link, text);
		return item;
	}));
	if (hits.length === 0 && query.value.trim() !== "") {
		const item = document.createElement("li");
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
if (matchMedia("(max-width: 60rem)").matches) document.getElementById("menu").open = false;
const asked = new URLSearchParams(location.search).get("q");
if (asked) {
	query.value = asked;
	show();
}
