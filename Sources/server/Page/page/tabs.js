// @ts-check
import { byId } from './dom.js';

/** The tabs, by the pattern of the ARIA Authoring Practices: arrows go from one to the next. */
export class Tabs {
  /** @param {Record<string, {show: () => void, hide: () => void}>} views by name; what has none stands still */
  constructor(views) {
    this.views = views;
    /** @type {HTMLElement[]} */
    this.tabs = [...document.querySelectorAll('[role=tab]')].map((tab) => /** @type {HTMLElement} */ (tab));
    for (const [index, tab] of this.tabs.entries()) {
      tab.addEventListener('click', () => this.select(index));
      tab.addEventListener('keydown', ({ key }) => {
        const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
        if (step === 0) return;
        const next = (index + step + this.tabs.length) % this.tabs.length;
        this.select(next);
        this.tabs[next].focus();
      });
    }
  }

  /** @param {string} name */
  open(name) {
    const index = this.tabs.findIndex((tab) => tab.id === `tab-${name}`);
    this.select(index);
    this.tabs[index].focus();
  }

  /** @param {number} index */
  select(index) {
    for (const [other, tab] of this.tabs.entries()) {
      const isSelected = other === index;
      const name = tab.id.replace('tab-', '');
      tab.setAttribute('aria-selected', String(isSelected));
      tab.tabIndex = isSelected ? 0 : -1;
      byId(`view-${name}`).hidden = !isSelected;
      if (isSelected) this.views[name]?.show();
      else this.views[name]?.hide();
    }
  }
}
