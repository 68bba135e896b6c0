-- Counts the items of a subscription by state.
CREATE INDEX subscription_items_state ON subscription_items (subscription, state);
