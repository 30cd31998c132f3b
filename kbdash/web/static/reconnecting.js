// A page whose server restarted still shows its widgets, but the new session has not run yet and would lose a click.
// So nothing can be clicked from the loss of the connection until the first run of the new session has ended.

const LONGEST_WAIT = 20000; // milliseconds after the connection is back; then clicks are let through in any case

function waitAfterReconnecting() {
  const app = document.querySelector('[data-testid="stApp"]');
  const main = document.querySelector('[data-testid="stMain"]');
  if (!app || !main) return () => {};
  let limit = 0;
  const free = () => {
    main.inert = false;
  };
  const observer = new MutationObserver((changes) => {
    if (app.dataset.testConnectionState !== "CONNECTED") {
      main.inert = true;
      return;
    }
    if (!main.inert) return;
    limit ||= setTimeout(free, LONGEST_WAIT);
    const hasRun = changes.some(({ oldValue }) => oldValue === "running");
    if (hasRun && app.dataset.testScriptState === "notRunning") free();
  });
  observer.observe(app, {
    attributeOldValue: true,
    attributeFilter: ["data-test-connection-state", "data-test-script-state"],
  });
  if (main.inert) limit = setTimeout(free, LONGEST_WAIT);
  return () => {
    observer.disconnect();
    clearTimeout(limit);
  };
}
