-- The choice of when failed attempts are repeated, as a JSON object; null for the service's options.
ALTER TABLE downloads ADD COLUMN retry TEXT;
