# The job with Net::HTTP.
require "json"
require "net/http"
_, base, body, text, out = ARGV
address = URI(base)
Net::HTTP.start(address.host, address.port) do |http|
  id = JSON.parse(http.post("/downloads", body, "Content-Type" => "application/json").body)["id"]
  catch(:completed) do
    Net::HTTP.start(address.host, address.port) do |events|
      events.request_get("/downloads/#{id}/events") do |response|
        response.read_body { |piece| throw :completed if piece.include? '"state":"completed"' }
      end
    end
  end
  File.binwrite(out, http.get("/downloads/#{id}/file/#{text}").body)
end
