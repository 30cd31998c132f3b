// What every page needs in the browser, in one component: each further one would cost every run its share.
export default function (component) {
  const [settings, boards] = new TextDecoder().decode(component.data).split("\n", 2).map((line) => JSON.parse(line));
  const told = { ...component, data: { ...settings, boards } };
  keepHistory();
  reportTheme(told);
  const ends = [copyWithoutEscapes(), waitAfterReconnecting(), reportWidth(told), offerSearch(told)];
  return () => ends.forEach((end) => end());
}
