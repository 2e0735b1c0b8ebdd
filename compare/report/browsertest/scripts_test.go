package browsertest

// helpers are functions that other scripts use.
const helpers = `
const seen = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 && getComputedStyle(e).visibility == "visible" && (!e.checkVisibility || e.checkVisibility()); };
const words = e => (e.tagName + " " + (e.className.baseVal ?? e.className) + " \"" + e.textContent.trim().slice(0, 60) + "\"");
const textual = () => [...document.querySelectorAll("main *")].filter(e => e.closest("title, desc") == null &&
	[...e.childNodes].some(n => n.nodeType == 3 && n.data.trim() != "") && seen(e));
`

// unfold opens everything that is folded.
const unfold = `[...document.querySelectorAll("details")].map(d => d.open = true).slice(0, 0)`

// overflow: the document does not scroll sideways, and nothing sticks out of it but in
// a box that scrolls.
const overflow = `(() => {
	const out = [], width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) out.push("the document is " + document.documentElement.scrollWidth + " wide, the window " + width);
	for (const e of document.querySelectorAll("main, main *")) {
		if (e.closest(".scroll") && !e.matches(".scroll") || e.closest("svg") && !e.matches("svg.picture") || !seen(e)) continue;
		const r = e.getBoundingClientRect();
		if (r.right > width + 0.5 || r.left < -0.5) out.push(words(e) + " from " + r.left + " to " + r.right);
	}
	return out;
})()`

// firstScreen: verdict, table, timeline and next command, in this order, above the fold.
const firstScreen = `(() => {
	const out = []; let last = -1;
	for (const id of ["verdict", "table", "worst", "next"]) {
		const e = document.getElementById(id);
		if (e == null) { out.push("there is no " + id); continue; }
		const r = e.getBoundingClientRect();
		if (r.bottom + scrollY > 800) out.push(id + " ends at " + (r.bottom + scrollY));
		if (r.top < last) out.push(id + " is not below what comes before it");
		last = r.top;
	}
	return out;
})()`

// small: no text below 12 pixels.
const small = `textual().filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).map(e => words(e) + " has " + getComputedStyle(e).fontSize)`

// contrast: WCAG 2 level AA, 4.5 to 1, against the background or, in a picture, against
// the page and the band that shows a fault.
const contrast = `(() => {
	const rgb = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 && m[3] == 0 ? null : m.slice(0, 3); };
	const light = c => c.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
	const band = document.querySelector(".picture .strike");
	const out = [];
	for (const e of textual()) {
		const s = getComputedStyle(e), inside = e.closest("svg");
		const grounds = inside ? [behind(inside), ...(band ? [rgb(getComputedStyle(band).fill)] : [])] : [behind(e)];
		for (const g of grounds) { const r = ratio(rgb(inside ? s.fill : s.color), g); if (r < 4.5) out.push(words(e) + " has " + r.toFixed(2)); }
	}
	return out;
})()`

// labels: text of a picture stays inside of it and off other text.
const labels = `(() => {
	const out = [];
	for (const svg of document.querySelectorAll("svg.picture")) {
		if (!seen(svg)) continue;
		const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].map(e => [e, e.getBoundingClientRect()]);
		texts.forEach(([e, r], i) => {
			if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 3 || r.bottom > box.bottom + 3) out.push(words(e) + " sticks out of " + svg.querySelector("title").textContent);
			for (const [o, q] of texts.slice(i + 1))
				if (r.left < q.right - 1 && q.left < r.right - 1 && r.top < q.bottom - 4 && q.top < r.bottom - 4) out.push(words(e) + " overlaps " + words(o) + " in " + svg.querySelector("title").textContent);
		});
	}
	return out;
})()`

// accessible: each picture has a title and a description, each heading of a table says
// what it heads, and ids are there once.
const accessible = `(() => {
	const out = [];
	for (const svg of document.querySelectorAll("svg[role=img]")) {
		const named = (svg.getAttribute("aria-labelledby") ?? "").split(" ").map(id => document.getElementById(id));
		if (named.length != 2 || named.some(e => e == null || !svg.contains(e) || e.textContent.trim() == "")) out.push("a picture without title or description");
	}
	if (document.querySelectorAll("svg[role=img]").length == 0) out.push("no picture");
	for (const th of document.querySelectorAll("th:not([scope])")) out.push(words(th) + " has no scope");
	for (const a of document.querySelectorAll("a")) if (document.querySelector(a.getAttribute("href")) == null) out.push(words(a) + " leads nowhere");
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	ids.filter((id, i) => ids.indexOf(id) != i).forEach(id => out.push("id " + id + " is there twice"));
	if (document.querySelectorAll("script, img, iframe, object, embed, form, a:not([href^='#'])").length) out.push("an element that does not belong there");
	return out;
})()`
