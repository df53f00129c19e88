extension LabReport {
  /// The page's style: what `html(styleHash:)` is to be given the hash of.
  public static let style = """

    :root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #ffffff; --line: #d8dde3;
      --ours: #b3261e; --front: #0b57d0; --dot: #5b6470; --wait: #b3261e; --load: #0b57d0; --cut: #9a6b00; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #a3adb8; --paper: #14171a;
      --line: #353b42; --ours: #ff8a80; --front: #8ab4f8; --dot: #a3adb8; --wait: #ff8a80; --load: #8ab4f8;
      --cut: #e0b050; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--paper); color: var(--ink);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
    main { max-width: 72rem; margin: 0 auto; padding: 1rem; }
    h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
    h2 { font-size: 1.2rem; margin: 2.2rem 0 0.5rem; }
    p, li { max-width: 44rem; }
    .lead { font-size: 1.1rem; }
    .charts { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
    .wide { display: none; }
    .narrow { max-width: 30rem; }
    @media (min-width: 42rem) { .wide { display: block; } .narrow { display: none; } }
    .legend { columns: 16rem; overflow-wrap: anywhere; margin: 0 0 1rem; padding-left: 2.2rem; }
    figure { margin: 0; break-inside: avoid; }
    figcaption { color: var(--soft); font-size: 0.9rem; }
    svg { display: block; width: 100%; height: auto; }
    svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
    svg .end { text-anchor: end; }
    svg .mid { text-anchor: middle; }
    svg .name { font-style: italic; }
    svg .key { fill: var(--ink); }
    svg .halo { stroke: var(--paper); stroke-width: 3px; paint-order: stroke; }
    svg .lead { stroke: var(--soft); stroke-width: 0.7; }
    svg .grid { stroke: var(--line); }
    svg .dot { fill: var(--dot); }
    svg .ours { fill: var(--ours); }
    svg .front { fill: none; stroke: var(--front); stroke-width: 1.5; }
    svg .priced { fill: none; stroke: var(--ours); stroke-width: 1.5; stroke-dasharray: 4 3; }
    svg .other { fill: none; stroke: var(--dot); stroke-width: 1.2; }
    svg .best { fill: none; stroke: var(--ours); stroke-width: 2; }
    svg .span { stroke: var(--dot); stroke-width: 2; }
    svg .cell { fill: var(--wait); }
    svg .edge { fill: none; stroke: var(--line); }
    svg .seen { fill: none; stroke: var(--ink); stroke-width: 1.5; }
    svg .load { stroke: var(--load); stroke-width: 2.5; }
    svg .cut { stroke: var(--cut); stroke-width: 2.5; }
    svg .wait { stroke: var(--wait); stroke-width: 5; }
    .scroll { overflow: auto; max-height: 34rem; border: 1px solid var(--line); border-radius: 0.4rem; }
    .scroll:focus-visible { outline: 2px solid var(--front); outline-offset: 2px; }
    .scroll th { position: sticky; top: 0; background: var(--paper); }
    table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
    th, td { padding: 0.25rem 0.6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
    th { color: var(--soft); font-weight: 600; }
    th.text, td.text { text-align: left; }
    tr.ours td { color: var(--ours); }
    @media print { :root { --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --ours: #a00; --front: #04a;
      --dot: #444; --wait: #a00; --load: #04a; --cut: #850; color-scheme: light; }
      body { font-size: 10pt; } main { max-width: none; padding: 0; } .scroll { overflow: visible; max-height: none; border: 0; }
      table { font-size: 7pt; } th, td { padding: 0.1rem 0.2rem; } tr, section { break-inside: avoid; }
      h2, h3, h2 + p, tbody tr:nth-child(-n+4) { break-after: avoid; }
      .charts { grid-template-columns: repeat(2, 1fr); } .charts svg { max-height: 8.5cm; } }

    """

  /// The style is no text of a person's: it is written as it stands.
  static var styleMarkup: Markup {
    var markup = Markup()
    markup.addTrusted(style)
    return markup
  }
}
